import { Context } from '@temporalio/activity';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { type BrowserRecording, PLAY_MAX_MINUTES } from '../../../domain/projects/policies/browser-recording-rules.ts';
import { failureText, playedSteps } from '../../../domain/review/browser-checks/check-outcome-rules.ts';
import { beginCheck, endCheck } from '../../../domain/review/browser-checks/check-sessions.mutations.ts';
import type { PlayEnd, StepEnd } from '../../../domain/review/browser-checks/recording-player.port.ts';
import type { Viewport } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import { sessionForRun } from '../../../domain/review/browser-sessions/recordings/record.mutations.ts';
import { SESSIONS } from '../../../domain/review/browser-sessions/session-announcements.ts';
import { hasEnded, isLive } from '../../../domain/review/browser-sessions/session-rules.ts';
import { findSession, type SessionRow } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import type { UnitOfWork } from '../../../domain/unit-of-work.ts';
import type { HeldOutcome, Pending } from '../../delivery/flows/operations.activities.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { recordingOfRun } from './recording-of-run.ts';
import { ShownSteps } from './shown-steps.ts';

const POLL_MS = 500;
/** For the replay to show how the last step left the page. */
const LAST_PICTURE_MS = 1_500;
const ROOM_AGAIN_SECONDS = 20;
const SESSION_MINUTES = PLAY_MAX_MINUTES + 5;

/** A check at work. */
interface Check {
  deps: Deps;
  tenant: TenantKey;
  run: RunContext;
  /** In the name of who asked for it, which also signals the workflow of the session. */
  unit: UnitOfWork;
  signal: AbortSignal;
}

/** Nothing was found out about what is deployed. */
const unknown = (error: string, result?: Record<string, unknown>): RunOutcome => ({
  status: 'failed',
  code: 'unknown_outcome',
  error,
  ...(result && { result }),
});

/** Plays a recording in a browser at the org of a run's environment; the run ends as the recording does. */
export const runBrowserCheck = (deps: Deps, tenant: TenantKey, run: RunContext): Promise<HeldOutcome | Pending> =>
  withHeartbeat(async (signal) => {
    const check = { deps, tenant, run, unit: deps.actingAs({ ...run.requestedBy, ...tenant }), signal };
    const found = await recordingOfRun(deps, tenant, run, signal);
    if (!found.isOk) return unknown(found.reason);
    const session = await sessionOf(check, found.value);
    if (!('id' in session)) return session;
    const live = await becomesLive(check, session.id);
    return isPlayable(live) ? checked(check, found.value, live) : unknown(whyEnded(live), { sessionId: session.id });
  });

const isPlayable = (session: SessionRow | undefined): session is SessionRow =>
  session !== undefined && isLive(session.status);

/** The session in which a recording is played; else how the run ends, or when to ask again. */
async function sessionOf(
  { deps, run, unit }: Check,
  recording: BrowserRecording,
): Promise<SessionRow | RunOutcome | Pending> {
  const viewport = viewportOf(recording);
  const wish = { minutes: SESSION_MINUTES, ...(viewport && { viewport }) };
  try {
    return await unit((tx) => sessionForRun(tx, run, deps.browsers, { wish, isLocal: true }));
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'unavailable') throw error;
    if (error.code === 'rate_limited')
      return { againInSeconds: ROOM_AGAIN_SECONDS, text: 'Waiting for a free browser' };
    return unknown(error.message);
  }
}

/** The window in which it was recorded, where a session can have it. */
function viewportOf({ steps }: BrowserRecording): Viewport | undefined {
  const step = steps.find(({ type }) => type === 'setViewport');
  if (step?.type !== 'setViewport') return undefined;
  const { width, height } = step;
  return width >= 320 && width <= 2_560 && height >= 240 && height <= 1_600 ? { width, height } : undefined;
}

const present = ({ deps, tenant }: Check, sessionId: string) =>
  findSession(deps.reads.as(systemActor(tenant, SESSIONS)), sessionId);

/** Waits until a session is live, or has ended. */
async function becomesLive(check: Check, sessionId: string): Promise<SessionRow | undefined> {
  for (;;) {
    const session = await present(check, sessionId);
    if (!session || isLive(session.status) || hasEnded(session.status)) return session;
    await Context.current().sleep(POLL_MS);
  }
}

function whyEnded(session: SessionRow | undefined): string {
  if (!session) return 'The browser session was deleted';
  const { statusDetail, statusReason } = session;
  return `The browser session ended: ${statusDetail ?? statusReason ?? 'it is not known why'}`;
}

/** Plays a recording in a live session, once. */
async function checked(check: Check, recording: BrowserRecording, { id }: SessionRow): Promise<RunOutcome> {
  const { deps, run, unit, signal } = check;
  const begun = await unit((tx) => beginCheck(tx, id, recording.title));
  if (!begun) {
    await unit((tx) => endCheck(tx, id));
    const error =
      'The worker that played the recording was lost: what it did until then, the replay of the session shows';
    return unknown(error, { sessionId: id });
  }
  const token = await deps.browsers.hostTokens.sign(begun.grant, new Date());
  const ends: StepEnd[] = [];
  const shown = new ShownSteps(check, recording);
  const { recordedAt } = run.payload;
  const end = await deps.browsers.playRecording({ address: begun.address, token }, recording, {
    ...(typeof recordedAt === 'string' && { recordedAt }),
    onStep(step) {
      ends.push(step);
      shown.tell(ends);
    },
    signal,
  });
  await shown.finish();
  await Context.current().sleep(LAST_PICTURE_MS);
  const before = await present(check, id);
  if (before && !hasEnded(before.status)) await unit((tx) => endCheck(tx, id));
  return outcomeOf(recording, ends, end, { id, why: isPlayable(before) ? undefined : whyEnded(before) });
}

function outcomeOf(
  recording: BrowserRecording,
  ends: readonly StepEnd[],
  end: PlayEnd,
  session: { id: string; why: string | undefined },
): RunOutcome {
  const steps = playedSteps(recording, ends);
  const failed = steps.find(({ state }) => state === 'failed');
  const result = {
    sessionId: session.id,
    title: recording.title,
    steps,
    failedStep: failed?.number ?? null,
  };
  const played = steps.filter(({ state }) => state === 'passed').length;
  const upTo = `${played} of ${steps.length} steps had passed`;
  // A browser that is taken away fails whatever step it is at.
  if (session.why !== undefined && played < steps.length) return unknown(`${session.why}; ${upTo}`, result);
  if (end.kind === 'lost') return unknown(`${end.reason}; ${upTo}`, result);
  if (failed) return { status: 'failed', error: failureText(failed, steps.length), result };
  return { status: 'succeeded', result };
}
