import type { Tx } from '../../unit-of-work.ts';
import type { CreatedSession, Replays } from './browser-provider.port.ts';
import { hostById } from './hosts/browser-hosts.queries.ts';
import { closeCutOffPages } from './recordings/recording.mutations.ts';
import { announce, record } from './session-announcements.ts';
import { addToTimeline, changeSession, deleteReplayPages, deleteSession } from './session-changes.queries.ts';
import {
  hasEnded,
  isLive,
  isOverdue,
  isProvisioning,
  PROVISIONING_MAX_MS,
  type SessionStatus,
} from './session-rules.ts';
import { beginSession, endSession, type SessionEnding } from './sessions.mutations.ts';
import { findSession, lockedSession, type SessionRow } from './sessions.queries.ts';

/** A session as its workflow knows it. */
export interface SessionProgress {
  status: SessionStatus;
  hasEnded: boolean;
  provider: SessionRow['provider'];
  statusReason: string | null;
  expiresAt: string;
  /** Milliseconds until it expires, or is given up; null: it has ended. */
  dueInMs: number | null;
  /** The host's own task queue, and its name; null: it runs on none of ours. */
  hostQueue: string | null;
  hostName: string | null;
  /** Whether the host of a session that has ended has sent no heartbeat lately. Nothing is asked of it then. */
  isHostGone: boolean;
  isReleased: boolean;
  isRemoved: boolean;
  /** What is recorded of it is being put in order. */
  isProcessing: boolean;
}

/** Gives up or expires a session that is overdue; null when it is gone. Retrying is safe. */
export async function reevaluateSession(tx: Tx, id: string): Promise<SessionProgress | null> {
  let session = await lockedSession(tx, id);
  if (!session) return null;
  if (isOverdue({ status: session.status, createdAt: new Date(session.createdAt) }, tx.now))
    session = await endSession(tx, session, overdueEnding(session));
  else if (isLive(session.status) && new Date(session.expiresAt) <= tx.now)
    session = await endSession(tx, session, { status: 'expired', reason: 'expired' });
  await changeSession(tx, id, { seenAt: tx.now });
  const isHostGone = hasEnded(session.status) && session.hostId !== null && !(await isAlive(tx, session.hostId));
  return { ...progressOf(session, tx.now), isHostGone };
}

function overdueEnding({ provider, hostId }: SessionRow): SessionEnding {
  if (provider === 'local' && hostId === null)
    return { status: 'error', reason: 'no_capacity', detail: 'No slot was free on a browser host for 5 minutes.' };
  const whose = provider === 'external' ? 'The worker that executes it' : 'The provider';
  return { status: 'error', reason: 'provisioning_timeout', detail: `${whose} did not report it live in 5 minutes.` };
}

function progressOf(session: SessionRow, now: Date): Omit<SessionProgress, 'isHostGone'> {
  const { status, provider, statusReason, hostQueue, hostName } = session;
  const expiresAt = new Date(session.expiresAt);
  const due = isProvisioning(status)
    ? new Date(session.createdAt).getTime() + PROVISIONING_MAX_MS
    : expiresAt.getTime();
  return {
    status,
    hasEnded: hasEnded(status),
    provider,
    statusReason,
    expiresAt: expiresAt.toISOString(),
    dueInMs: hasEnded(status) ? null : Math.max(0, due - now.getTime()),
    hostQueue,
    hostName,
    isReleased: session.releasedAt !== null,
    isRemoved: session.removedAt !== null,
    isProcessing: session.recordingState === 'processing',
  };
}

/** Notes on which host a session is being provisioned; false when that is not wanted any more. */
export async function noteHost(tx: Tx, id: string, host: { id: string; name: string }): Promise<boolean> {
  const session = await lockedSession(tx, id);
  if (!session || !isProvisioning(session.status)) return false;
  if (session.hostId === host.id) return true;
  await changeSession(tx, id, { hostId: host.id });
  await addToTimeline(tx, session, {
    kind: 'host',
    summary: `is provisioned on ${host.name}`,
    data: { host: host.name },
  });
  return true;
}

async function isAlive(tx: Tx, hostId: string | null): Promise<boolean> {
  return hostId !== null && (await hostById(tx, hostId))?.isAlive === true;
}

/**
 * Makes a session live that the provider allocates; false when that is not wanted any more, or another host that is alive
 * has allocated it: what the provider allocates is to be released then. Retrying is safe.
 */
export async function sessionIsLive(
  tx: Tx,
  id: string,
  { providerSessionId, isolation, host }: CreatedSession,
  recording: { isPossible: boolean; reason: string | null },
): Promise<boolean> {
  const session = await lockedSession(tx, id);
  if (!session) return false;
  if (isLive(session.status)) {
    if (host && session.hostId !== host.id && (await isAlive(tx, session.hostId))) return false;
    // The host that allocated it first was lost before that was known.
    if (session.providerSessionId !== providerSessionId)
      await changeSession(tx, id, { providerSessionId, isolation, hostId: host?.id ?? null });
    return true;
  }
  if (!isProvisioning(session.status)) {
    // Whoever ended it meanwhile did not know what to release.
    await changeSession(tx, id, { providerSessionId, hostId: host?.id ?? session.hostId });
    return false;
  }
  const isRecorded = session.isRecorded && recording.isPossible;
  await beginSession(tx, session, {
    providerSessionId,
    isolation,
    hostId: host?.id ?? null,
    recordingState: isRecorded ? 'recording' : 'none',
    recordingReason: session.isRecorded && !isRecorded ? recording.reason : null,
  });
  return true;
}

/** Ends a session as its provider, or the loss of it, says; one that has ended stays as it is. */
export async function sessionHasEnded(tx: Tx, id: string, ending: SessionEnding): Promise<void> {
  const session = await lockedSession(tx, id);
  if (!session || hasEnded(session.status)) return;
  const isLost = isProvisioning(session.status) && ending.status === 'expired';
  await endSession(tx, session, isLost ? { ...ending, status: 'error' } : ending);
}

/** The provider says that nothing of a session runs any more. */
export async function sessionIsReleased(tx: Tx, id: string): Promise<void> {
  const session = await lockedSession(tx, id);
  if (!session || session.releasedAt !== null) return;
  await changeSession(tx, id, { releasedAt: tx.now });
  await addToTimeline(tx, session, { kind: 'released', summary: 'is gone at its provider' });
}

/** Notes what was recorded of a session, and announces a recording that can be played. Retrying is safe. */
export async function recordingIsFinished(
  tx: Tx,
  id: string,
  { state, pages, bytes, reason }: Omit<Replays, 'pages'> & { pages: number },
): Promise<void> {
  const before = await lockedSession(tx, id);
  if (!before || before.recordingState !== 'processing') return;
  const recordingState = state === 'ready' || state === 'partial' ? state : 'none';
  await closeCutOffPages(tx, id);
  await changeSession(tx, id, {
    recordingState,
    recordingPages: pages,
    recordingBytes: String(bytes),
    recordingReason: reason,
  });
  const session = (await findSession(tx, id)) ?? before;
  if (recordingState === 'none' || session.removedAt !== null) return;
  const what = recordingState === 'ready' ? 'its recording can be played' : 'a part of its recording can be played';
  await record(tx, session, 'recording_ready', what, { before, data: { pages, bytes, state, reason } });
  announce(tx, session, 'browser_session.recording_ready');
}

/** The recording of a session was removed, since it was kept long enough. */
export async function recordingHasExpired(tx: Tx, id: string): Promise<void> {
  const before = await lockedSession(tx, id);
  if (!before || !['processing', 'ready', 'partial'].includes(before.recordingState)) return;
  await deleteReplayPages(tx, id);
  await changeSession(tx, id, { recordingState: 'expired', recordingBytes: '0' });
  const session = (await findSession(tx, id)) ?? before;
  if (session.removedAt === null)
    await record(tx, session, 'recording_removed', 'its recording was removed', { before });
}

/** Removes the row of a session that was deleted, and of which nothing is left elsewhere. */
export async function forgetSession(tx: Tx, id: string): Promise<void> {
  const session = await lockedSession(tx, id);
  if (session?.removedAt != null && session.releasedAt !== null) await deleteSession(tx, id);
}
