import type { Tx } from '../../unit-of-work.ts';
import { hostOfSession } from './hosts/host-addresses.ts';
import type { HostGrant } from './hosts/host-tokens.ts';
import { subjectOf } from './session-announcements.ts';
import { addToTimeline } from './session-changes.queries.ts';
import { assertMayChange, capOf } from './session-rules.ts';
import { sessionById } from './sessions.queries.ts';

/**
 * Lets automation connect to the browser of a session once, until the session ends. Throws `not_found`, `forbidden`, and
 * as `hostOfSession`.
 */
export async function grantConnection(tx: Tx, id: string): Promise<HostGrant> {
  const session = await sessionById(tx, id);
  assertMayChange(tx.actor, session);
  const { hostId } = await hostOfSession(tx, session);
  const summary = 'Token for automation handed out';
  await addToTimeline(tx, session, { kind: 'connect_created', summary });
  tx.audit({
    source: 'browser',
    action: 'browser_session.connect_created',
    entityType: 'browser_session',
    entityId: id,
    repositoryIdentifier: session.repositoryIdentifier,
    summary: `Browser session of ${subjectOf(session)}: ${summary}`,
    after: { hostId },
  });
  const until = capOf(new Date(session.createdAt));
  return { hostId, sessionId: id, asks: 'connect', by: tx.actor, linkId: null, until };
}
