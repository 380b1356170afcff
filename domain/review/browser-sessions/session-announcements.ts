import type { BrowserSessionKey } from '../review.signals.ts';
import type { Tx } from '../../unit-of-work.ts';
import { type EventData, emitEvent } from '../../events/webhooks/event-catalog.ts';
import { addToTimeline } from './session-changes.queries.ts';
import type { SessionRow } from './sessions.queries.ts';

/** What a session shows, as people say it: `PR 12`, or the name of the environment. */
export const subjectOf = ({ prNumber, environmentName, orgUsername }: SessionRow): string =>
  prNumber === null ? (environmentName ?? orgUsername) : `PR ${prNumber}`;

/** What a session's workflow is named by. */
export const sessionKeyOf = (session: SessionRow): BrowserSessionKey => ({
  sessionId: session.id,
  repositoryIdentifier: session.repositoryIdentifier,
  subject: subjectOf(session),
});

/** What of a session stands in the audit trail. */
const stateOf = (session: SessionRow) => ({
  status: session.status,
  statusReason: session.statusReason,
  provider: session.provider,
  providerSessionId: session.providerSessionId,
  prNumber: session.prNumber,
  environment: session.environmentName,
  orgUsername: session.orgUsername,
  expiresAt: session.expiresAt,
  recording: session.recordingState,
});

export type SessionAction =
  | 'created'
  | 'live'
  | 'extended'
  | 'patched'
  | 'ended'
  | 'expired'
  | 'failed'
  | 'deleted'
  | 'recording_ready'
  | 'recording_removed'
  | 'link_created'
  | 'link_revoked';

/** Writes to the trail and to the timeline what happened to a session; its workflow looks again. */
export async function record(
  tx: Tx,
  session: SessionRow,
  action: SessionAction,
  what: string,
  { before, data }: { before?: SessionRow; data?: Record<string, unknown> } = {},
): Promise<void> {
  await addToTimeline(tx, session, { kind: action, summary: what, ...(data && { data }) });
  tx.audit({
    source: 'browser',
    action: `browser_session.${action}`,
    entityType: 'browser_session',
    entityId: session.id,
    repositoryIdentifier: session.repositoryIdentifier,
    summary: `Browser session of ${subjectOf(session)}: ${what}`,
    ...(before && { before: stateOf(before) }),
    after: stateOf(session),
  });
  if (!isOwnWork(tx)) tx.after('browserSession', sessionKeyOf(session));
}

/** The part of the service that acts for sessions: their workflows, which know what they did themselves. */
export const SESSIONS = 'browser-session';
const isOwnWork = ({ actor }: Tx): boolean => actor.type === 'system' && actor.id === SESSIONS;

const iso = (text: string | null): string | null => (text === null ? null : new Date(text).toISOString());

const eventOf = (session: SessionRow): EventData<'browser_session.live'> => ({
  sessionId: session.id,
  repositoryIdentifier: session.repositoryIdentifier,
  prNumber: session.prNumber,
  environmentId: session.environmentId,
  environmentName: session.environmentName,
  orgUsername: session.orgUsername,
  provider: session.provider,
  status: session.status,
  statusReason: session.statusReason,
  startedBy: session.createdBy.email,
  liveAt: iso(session.liveAt),
  endedAt: iso(session.endedAt),
  expiresAt: iso(session.expiresAt) ?? '',
  recording: session.recordingState,
  recordingPages: session.recordingPages,
});

/** Tells webhooks of a session. */
export const announce = (
  tx: Tx,
  session: SessionRow,
  event: 'browser_session.live' | 'browser_session.ended' | 'browser_session.recording_ready',
): void => emitEvent(tx, event, eventOf(session));
