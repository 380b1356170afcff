import { presentActor } from '../../../identity/auth/present-actor.queries.ts';
import type { FencedReads, Reads } from '../../../kernel/data/fenced-reads.ts';
import type { Actor } from '../../../kernel/shared/actor.ts';
import type { LiveLinkTokens } from './live-link-tokens.ts';
import { findLink } from './live-links.queries.ts';
import { guestOf, holds, type LiveViewer, viewerOf } from './live-viewer-rules.ts';
import { capOf, hasEnded, mayChange } from '../session-rules.ts';
import { findSession, type SessionRow } from '../sessions.queries.ts';

/** What somebody may do with a session that they may see. */
export interface LiveAccess {
  session: SessionRow;
  viewer: LiveViewer;
  /** May extend and stop it. */
  mayChange: boolean;
  /** When they are let go at the latest. */
  until: Date;
  reads: Reads;
}

/** Who asks: signed in, or with live links, or both. */
export interface LiveCaller {
  actor: Actor | undefined;
  links: readonly string[];
}

/** What a caller may do with a session; undefined: they may not know of it. */
export type FindLiveAccess = (sessionId: string, caller: LiveCaller) => Promise<LiveAccess | undefined>;

/**
 * People who are signed in watch the sessions of their tenant, and control those that they may change;
 * links do what they say, as long as who made them may change the session.
 */
export function createFindLiveAccess({
  reads,
  tokens,
  now,
}: {
  reads: FencedReads;
  tokens: LiveLinkTokens;
  now: () => Date;
}): FindLiveAccess {
  const asPerson = async (sessionId: string, actor: Actor): Promise<LiveAccess | undefined> => {
    const own = reads.as(actor);
    const session = await findSession(own, sessionId);
    if (!session || session.removedAt !== null) return undefined;
    const isTheirs = mayChange(actor, session);
    const viewer = viewerOf({ asks: isTheirs ? 'control' : 'watch', by: actor, linkId: null });
    return { session, viewer, mayChange: isTheirs, until: capOf(new Date(session.createdAt)), reads: own };
  };
  const asGuest = async (sessionId: string, token: string): Promise<LiveAccess | undefined> => {
    const key = await tokens.open(token, now());
    if (key?.sessionId !== sessionId) return undefined;
    const stranger = guestOf(key, { email: '' } as Actor);
    const theirs = reads.as(stranger);
    const link = await findLink(theirs, sessionId, key.linkId);
    if (!link || !holds(link, now())) return undefined;
    // Who made it may have signed out since, but not lost the session.
    const { sessionId: _, ...creator } = link.createdBy;
    const present = await presentActor(theirs, creator);
    const session = present && (await findSession(reads.as(present), sessionId));
    if (!session || !mayChange(present, session) || session.removedAt !== null || hasEnded(session.status))
      return undefined;
    const viewer = viewerOf({ asks: link.mode, by: guestOf(key, link.createdBy), linkId: key.linkId });
    return { session, viewer, mayChange: false, until: new Date(link.expiresAt), reads: theirs };
  };

  return async (sessionId, { actor, links }) => {
    const person = actor && (await asPerson(sessionId, actor));
    if (person?.viewer.may === 'control') return person;
    for (const link of links) {
      const guest = await asGuest(sessionId, link);
      if (guest && (!person || guest.viewer.may === 'control'))
        return person ? { ...guest, mayChange: person.mayChange } : guest;
    }
    return person;
  };
}
