import { DomainError, notFound } from '../../../kernel/shared/errors.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { findLink, insertLink, linksOfSession, type LiveLinkRow, setRevoked } from './live-links.queries.ts';
import { holds, type LiveMode } from './live-viewer-rules.ts';
import { record } from '../session-announcements.ts';
import { assertMayChange, expiryOf, hasEnded } from '../session-rules.ts';
import { sessionToChange } from '../sessions.mutations.ts';

/** That hold at the same time. */
export const LINKS_MAX = 20;

/**
 * Makes a link by which people without an account watch a session, for so many minutes, at most as long as the session
 * may last. Throws `not_found`, `forbidden`, and `invalid_transition` for a session that has ended, is shown elsewhere, or has
 * too many links.
 */
export async function createLink(
  tx: Tx,
  sessionId: string,
  { mode, minutes }: { mode: LiveMode; minutes: number },
): Promise<LiveLinkRow> {
  const session = await sessionToChange(tx, sessionId);
  assertMayChange(tx.actor, session);
  if (hasEnded(session.status)) throw new DomainError('invalid_transition', `The session is ${session.status}`);
  if (session.provider === 'external')
    throw new DomainError('invalid_transition', 'The session is watched at the address that its worker gave');
  const links = await linksOfSession(tx, sessionId);
  if (links.filter((link) => holds(link, tx.now)).length >= LINKS_MAX)
    throw new DomainError('invalid_transition', `The session has ${LINKS_MAX} links that hold: revoke one of them`);
  const expiresAt = expiryOf(new Date(session.createdAt), tx.now, minutes);
  const link = await insertLink(tx, session, { mode, expiresAt });
  const data = { linkId: link.id, mode, expiresAt };
  await record(tx, session, 'link_created', `Link to ${mode} created`, { data });
  return link;
}

/** From now on the link opens nothing; who came by it is cut off. Repeating that is fine. Throws `not_found`, `forbidden`. */
export async function revokeLink(tx: Tx, sessionId: string, linkId: string): Promise<void> {
  const session = await sessionToChange(tx, sessionId);
  const link = await findLink(tx, sessionId, linkId);
  if (!link) throw notFound('The live link');
  assertMayChange(tx.actor, session);
  if (link.revokedAt !== null) return;
  await setRevoked(tx, linkId);
  await record(tx, session, 'link_revoked', `Link to ${link.mode} revoked`, { data: { linkId, mode: link.mode } });
}
