import { LRUCache } from 'lru-cache';
import type { FencedReads } from '../../kernel/data/fenced-reads.ts';
import { type Actor, systemActor } from '../../kernel/shared/actor.ts';
import { findUserByAddress } from '../../identity/users/users.queries.ts';
import type { ChatLaneKey } from './chat-actions.queries.ts';
import type { ChatAnswer, ChatPlatform } from './chat-platform.port.ts';

/** How long the e-mail of a chat user is kept. Who has that e-mail here, and may do what, is looked up each time. */
const KEPT_MS = 3_600_000;
/** How long it is kept that the workspace shows none: people correct that, and try again. */
const UNKNOWN_KEPT_MS = 10_000;
const KEPT_MAX = 20_000;

export interface ChatTeam {
  lane: ChatLaneKey;
  teamId: string;
  botToken: string;
}

/**
 * Finds who somebody of a chat is here: by the e-mail that the workspace knows, or an alias. invited: they were added, and
 * have not accepted yet. Null: nobody.
 */
export type FindChatPerson = (team: ChatTeam, chatUserId: string) => Promise<ChatAnswer<Actor | 'invited' | null>>;

export function createChatPeople(
  platform: Pick<ChatPlatform, 'personOf'>,
  reads: FencedReads,
  now: () => Date,
): FindChatPerson {
  const kept = new LRUCache<string, { email: string | null; until: number }>({ max: KEPT_MAX });
  const emailOf = async (
    { lane, teamId, botToken }: ChatTeam,
    chatUserId: string,
  ): Promise<ChatAnswer<string | null>> => {
    const key = `${lane.workspaceId} ${chatUserId}`;
    const known = kept.get(key);
    if (known && known.until > now().getTime()) return { isOk: true, value: known.email };
    const answer = await platform.personOf(botToken, chatUserId);
    if (!answer.isOk) return answer.code === 'user_not_found' ? { isOk: true, value: null } : answer;
    // Another workspace vouches for its own people: whoever runs it could give them any e-mail.
    const { email, teamId: home, isPerson } = answer.value;
    const trusted = isPerson && home === teamId ? email : null;
    kept.set(key, { email: trusted, until: now().getTime() + (trusted === null ? UNKNOWN_KEPT_MS : KEPT_MS) });
    return { isOk: true, value: trusted };
  };
  return async (team, chatUserId) => {
    const email = await emailOf(team, chatUserId);
    if (!email.isOk || email.value === null) return email as ChatAnswer<null>;
    const { tenantId, tenantSlug } = team.lane;
    const user = await findUserByAddress(reads.as(systemActor(team.lane, 'chat')), email.value);
    if (!user) return { isOk: true, value: null };
    if (user.isInvited) return { isOk: true, value: 'invited' };
    const { id, role } = user;
    return { isOk: true, value: { type: 'user', id, role, email: user.email, tenantId, tenantSlug } };
  };
}
