import { DomainError, notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { announce, record } from './session-announcements.ts';
import { changeSession, type SessionChange } from './session-changes.queries.ts';
import {
  assertMayChange,
  assertMove,
  CAP_MINUTES,
  expiryOf,
  extendedExpiry,
  hasEnded,
  mayMove,
  type SessionEnd,
  type SessionStatus,
  type StatusReason,
} from './session-rules.ts';
import {
  hasExtension,
  lockedSession,
  openSessionOfAssignment,
  sessionById,
  sessionOfRun,
  type SessionRow,
  sessionsThatHold,
} from './sessions.queries.ts';

/** A session that nobody else changes until this transaction ends. Throws `not_found`, also for one that was deleted. */
export async function sessionToChange(tx: Tx, id: string): Promise<SessionRow> {
  const session = await lockedSession(tx, id);
  if (!session || session.removedAt !== null) throw notFound('The browser session');
  return session;
}

export interface SessionEnding {
  status: SessionEnd;
  reason: StatusReason;
  /** For people. */
  detail?: string | null;
}

/** Ends a session that is provisioning or live, of which the caller has the lock, and announces it. */
export async function endSession(
  tx: Tx,
  before: SessionRow,
  { status, reason, detail = null }: SessionEnding,
): Promise<SessionRow> {
  assertMove(before.status, status);
  await changeSession(tx, before.id, {
    status,
    statusReason: reason,
    statusDetail: detail,
    endedAt: tx.now,
    ...(before.recordingState === 'recording' && { recordingState: 'processing' }),
  });
  const ended = await sessionById(tx, before.id);
  const action = status === 'error' ? 'failed' : status;
  await record(tx, ended, action, END_TEXTS[reason], { before, data: { reason, ...(detail !== null && { detail }) } });
  announce(tx, ended, 'browser_session.ended');
  return ended;
}

const END_TEXTS: Record<StatusReason, string> = {
  stopped: 'was stopped',
  cancelled: 'was cancelled with its flow run',
  browser_closed: 'ended, since its browser was closed',
  expired: 'has expired',
  no_capacity: 'failed, since no host had a free slot',
  provisioning_timeout: 'failed, since it was not live in time',
  front_door_refused: 'failed, since the org was not opened',
  navigation_failed: 'failed, since the page of the org did not load',
  provider_error: 'failed at its provider',
  provider_unavailable: 'failed, since its provider could not be reached',
  host_lost: 'failed, since its host was lost',
  session_lost: 'failed, since its provider lost it',
  resource_limit: 'failed, since it used up its resources',
  assignment_ended: 'ended, since its pull request has given the org back',
  run_failed: 'failed with its flow run',
};

/** Makes a session live that is provisioning, and announces it. The caller has its lock. */
export async function beginSession(
  tx: Tx,
  before: SessionRow,
  how: Pick<SessionChange, 'providerSessionId' | 'liveViewUrl' | 'isolation' | 'hostId'> & {
    statusReason?: StatusReason | null;
    recordingState: 'none' | 'recording';
    recordingReason?: string | null;
  },
): Promise<SessionRow> {
  assertMove(before.status, 'live');
  await changeSession(tx, before.id, {
    ...how,
    status: 'live',
    liveAt: tx.now,
    expiresAt: expiryOf(new Date(before.createdAt), tx.now, before.minutes),
  });
  const live = await sessionById(tx, before.id);
  await record(tx, live, 'live', 'is live', { before, data: { provider: live.provider, isolation: live.isolation } });
  announce(tx, live, 'browser_session.live');
  return live;
}

/** Stops a session; one that has ended stays as it is. Throws `not_found`, `forbidden`. */
export async function stopSession(tx: Tx, id: string): Promise<SessionRow> {
  const session = await sessionToChange(tx, id);
  assertMayChange(tx.actor, session);
  return hasEnded(session.status) ? session : endSession(tx, session, { status: 'ended', reason: 'stopped' });
}

/**
 * Has a session last so many minutes longer, up to the cap; an extension that was made already is not made again. Throws
 * `not_found`, `forbidden`, and `invalid_transition` for one that is not live, or lasts to the cap already.
 */
export async function extendSession(
  tx: Tx,
  id: string,
  { minutes, extensionId }: { minutes: number; extensionId?: string | undefined },
): Promise<SessionRow> {
  const before = await sessionToChange(tx, id);
  assertMayChange(tx.actor, before);
  if (extensionId !== undefined && (await hasExtension(tx, id, extensionId))) return before;
  const now = { status: before.status, createdAt: new Date(before.createdAt), expiresAt: new Date(before.expiresAt) };
  const expiresAt = extendedExpiry(now, tx.now, minutes);
  await changeSession(tx, id, { expiresAt });
  const extended = await sessionById(tx, id);
  const what = `lasts until ${expiresAt.toISOString()}`;
  const data = { minutes, expiresAt, capMinutes: CAP_MINUTES, ...(extensionId !== undefined && { extensionId }) };
  await record(tx, extended, 'extended', what, { before, data });
  return extended;
}

/** What a worker outside reports of a session that it executes. */
export interface SessionReport {
  providerSessionId?: string | undefined;
  liveViewUrl?: string | undefined;
  status?: SessionStatus | undefined;
  statusReason?: StatusReason | undefined;
}

/**
 * Takes the report of a worker outside. The same status changes only what else is reported. Throws `not_found`
 * and `invalid_transition` for a move that the state table does not have and for a session that a provider of the service
 * runs.
 */
export async function patchSession(tx: Tx, id: string, report: SessionReport): Promise<SessionRow> {
  const before = await sessionToChange(tx, id);
  if (before.provider !== 'external')
    throw new DomainError(
      'invalid_transition',
      `The session is run by ${before.provider}: only sessions of provider external are reported from outside`,
    );
  const { status = before.status, statusReason, providerSessionId, liveViewUrl } = report;
  const isMove = status !== before.status;
  if (isMove && !mayMove(before.status, status)) assertMove(before.status, status);
  const facts: SessionChange = {
    ...(providerSessionId !== undefined && providerSessionId !== before.providerSessionId && { providerSessionId }),
    ...(liveViewUrl !== undefined && liveViewUrl !== before.liveViewUrl && { liveViewUrl }),
    ...(!isMove && statusReason !== undefined && statusReason !== before.statusReason && { statusReason }),
  };
  if (isMove && status !== 'live') {
    if (Object.keys(facts).length > 0) await changeSession(tx, id, facts);
    const ending = { status: status as SessionEnd, reason: statusReason ?? REASON_OF_END[status as SessionEnd] };
    return endSession(tx, before, ending);
  }
  if (isMove) return beginSession(tx, before, { ...facts, recordingState: 'none' });
  if (Object.keys(facts).length === 0) return before;
  await changeSession(tx, id, facts);
  const patched = await sessionById(tx, id);
  await record(tx, patched, 'patched', 'was reported on', { before });
  return patched;
}

const REASON_OF_END: Record<SessionEnd, StatusReason> = {
  ended: 'browser_closed',
  expired: 'expired',
  error: 'provider_error',
};

/**
 * Deletes a session: from now on nobody sees it, and its workflow ends what runs and removes the recording and the row.
 * Throws `not_found`, `forbidden`.
 */
export async function removeSession(tx: Tx, id: string): Promise<void> {
  const before = await sessionToChange(tx, id);
  assertMayChange(tx.actor, before);
  const ended = hasEnded(before.status) ? before : await endSession(tx, before, { status: 'ended', reason: 'stopped' });
  await record(tx, ended, 'deleted', 'was deleted', { before });
  await changeSession(tx, id, { removedAt: tx.now });
}

const REMOVED_AT_ONCE = 100;

/**
 * Deletes sessions of a project that is to be deleted, since nobody could end their browsers and remove their recordings
 * without their rows. False: nothing of them is left, and the project may go; until then it is to be called again.
 */
export async function removeSessionsOfProject(tx: Tx, projectId: string): Promise<boolean> {
  const holding = await sessionsThatHold(tx, projectId, REMOVED_AT_ONCE);
  for (const { id, removedAt } of holding) if (removedAt === null) await removeSession(tx, id);
  return holding.length > 0;
}

/**
 * Ends the session that a flow run asked for or executed, when the run has ended: the worker outside is gone, or
 * nobody waits for it any more. One that has ended stays as it is.
 */
export async function endSessionOfRun(
  tx: Tx,
  runId: string,
  outcome: 'succeeded' | 'cancelled' | 'failed',
): Promise<void> {
  const found = await sessionOfRun(tx, runId);
  const session = found && (await lockedSession(tx, found.id));
  if (!session || hasEnded(session.status)) return;
  const endings: Record<typeof outcome, SessionEnding> = {
    cancelled: { status: 'ended', reason: 'cancelled' },
    succeeded: { status: 'ended', reason: 'browser_closed' },
    failed: { status: 'error', reason: 'run_failed' },
  };
  await endSession(tx, session, endings[outcome]);
}

/** Ends the session at an org that its pull request has given back: the org is for another one now. */
export async function endSessionOfAssignment(tx: Tx, assignmentId: string): Promise<void> {
  const found = await openSessionOfAssignment(tx, assignmentId);
  const session = found && (await lockedSession(tx, found.id));
  if (!session || hasEnded(session.status)) return;
  await endSession(tx, session, { status: 'ended', reason: 'assignment_ended' });
}
