import type { Tx } from '../../unit-of-work.ts';
import type { LiveViewer } from './live/live-viewer-rules.ts';
import { sessionKeyOf } from './session-announcements.ts';
import { addToTimeline, type TimelineEntry } from './session-changes.queries.ts';
import { findSession } from './sessions.queries.ts';

/** Notes what happened in the browser of a session; one that is gone has no timeline. */
export async function noteInTimeline(tx: Tx, sessionId: string, entry: TimelineEntry): Promise<void> {
  const session = await findSession(tx, sessionId);
  if (session) await addToTimeline(tx, session, entry);
}

/** Notes who took control of a live browser, in their name, and from whom. */
export async function noteControl(
  tx: Tx,
  sessionId: string,
  { name, linkId }: LiveViewer,
  previous: LiveViewer | undefined,
): Promise<void> {
  const session = await findSession(tx, sessionId);
  if (!session) return;
  const summary = `${name} took control${previous ? ` from ${previous.name}` : ''}`;
  await addToTimeline(tx, session, { kind: 'control', summary, data: { linkId } });
  const { subject, repositoryIdentifier } = sessionKeyOf(session);
  tx.audit({
    source: 'browser',
    action: 'browser_session.control_taken',
    entityType: 'browser_session',
    entityId: sessionId,
    repositoryIdentifier,
    summary: `Browser session of ${subject}: ${summary}`,
    after: { linkId },
  });
}
