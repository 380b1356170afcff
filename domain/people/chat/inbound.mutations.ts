import { systemActor } from '../../kernel/shared/actor.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import { type ChatLaneKey, type FindChatSenders, insertChatAction } from './chat-actions.queries.ts';
import { openChatSecret } from './chat-secrets.ts';
import { isResponseUrl, readInbound } from './inbound-rules.ts';
import { assertPlausibleSignature, type InboundHeaders, isSignedBy, unproven } from './inbound-signature.ts';
import type { InboundKind } from './manifest-rules.ts';

export interface InboundReceiver {
  findSenders: FindChatSenders;
  actingAs: (actor: Actor) => UnitOfWork;
  encryption: Encryption;
  /** Counts a request. Throws `rate_limited`. */
  limit: () => Promise<void>;
  now: () => Date;
  /** Root of the platform's interface. */
  apiUrl: string;
}

interface Inbound {
  headers: InboundHeaders;
  body: unknown;
  bodyBytes: Uint8Array;
}

export interface InboundResult {
  /** To be answered as it is: the platform verifies the address. */
  challenge: string | null;
  /** The lane that has something new to do. */
  lane: ChatLaneKey | undefined;
}

/**
 * Takes a request of the platform to the app of the tenant that `key` names: proven, it is stored once, to be done by the
 * lane of its workspace. Throws `unauthenticated` without proof and for a replay, and `rate_limited`.
 */
export async function receiveInbound(
  { findSenders, actingAs, encryption, limit, now, apiUrl }: InboundReceiver,
  key: string,
  kind: InboundKind,
  { headers, body, bodyBytes }: Inbound,
): Promise<InboundResult> {
  assertPlausibleSignature(headers, now());
  await limit();
  const { teamId, challenge, content, eventId, responseUrl } = readInbound(kind, body);
  const candidates = await findSenders(key);
  const sender = candidates.find(
    (each) =>
      (challenge !== null || each.teamId === teamId) &&
      isSignedBy(openChatSecret(encryption, each.workspaceId, each.signingSecret), headers, bodyBytes),
  );
  if (!sender) throw unproven();
  if (challenge !== null || content === null || !sender.isActive) return { challenge, lane: undefined };
  const { tenantId, tenantSlug, workspaceId } = sender;
  const lane = { tenantId, tenantSlug, workspaceId };
  const stored = await actingAs(systemActor(lane, 'chat'))((tx) =>
    insertChatAction(tx, {
      workspaceId,
      signature: headers['x-slack-signature'] ?? '',
      eventId,
      content,
      responseUrl: responseUrl !== null && isResponseUrl(responseUrl, apiUrl) ? responseUrl : null,
    }),
  );
  // The platform may repeat an event as it was, and nothing else.
  const isRepeated = kind === 'events' && headers['x-slack-retry-num'] !== undefined;
  if (stored === 'replayed' && !isRepeated) throw unproven();
  return { challenge: null, lane: stored === 'added' ? lane : undefined };
}
