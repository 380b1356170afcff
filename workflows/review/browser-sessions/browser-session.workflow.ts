import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { SessionStateActivities } from '../../../activities/review/browser-sessions/session-state.activities.ts';
import type { Refusal } from '../../../activities/refusals.ts';
import type { SessionProgress } from '../../../domain/review/browser-sessions/session-progress.mutations.ts';
import { LOCAL_DATABASE_WORK } from '../../activity-options.ts';
import {
  type BrowserSessionInput,
  extendUpdate,
  openStartUrlUpdate,
  patchUpdate,
  sessionChangedSignal,
  stopUpdate,
} from './browser-session.contract.ts';
import { BrowserCalls } from './browser-calls.ts';

const state = proxyLocalActivities<SessionStateActivities>(LOCAL_DATABASE_WORK);

/**
 * One browser session: provision, hold until its end, release, finish the recording; removal, once it is deleted. Its
 * row has its state and decides what is next, so that the workflow can be started again at any time.
 */
export async function browserSession({ tenantId, tenantSlug, sessionId }: BrowserSessionInput): Promise<void> {
  const key = { tenantId, tenantSlug, sessionId };
  const calls = new BrowserCalls(key, state);
  let progress: SessionProgress | null = null;
  let changes = 0;
  let seen = 0;
  let step = 'begin';
  let isCancelled = false;
  const changed = (refusal: Refusal | null) => {
    if (refusal) throw ApplicationFailure.nonRetryable(refusal.message, refusal.code);
    changes++;
  };
  setHandler(extendUpdate, async (ask) => changed(await state.extendSession({ ...key, ...ask })), {
    validator(_ask) {
      // The row of a session that is provisioned may say that it is live before this workflow knows.
      if (progress?.hasEnded)
        throw ApplicationFailure.nonRetryable(
          `The session cannot be extended: it is ${progress.status}`,
          'invalid_transition',
        );
    },
  });
  setHandler(stopUpdate, async (ask) => changed(await state.stopSession({ ...key, ...ask })));
  setHandler(patchUpdate, async (ask) => changed(await state.patchSession({ ...key, ...ask })), {
    validator(_ask) {
      if (progress && progress.provider !== 'external')
        throw ApplicationFailure.nonRetryable(
          `The session is run by ${progress.provider}: only sessions of provider external are reported from outside`,
          'invalid_transition',
        );
    },
  });
  setHandler(openStartUrlUpdate, ({ hostId }) => calls.openStartUrl(hostId));
  setHandler(sessionChangedSignal, () => void changes++);
  // Whoever cancels the workflow means the session: what runs is still released.
  CancellationScope.current().cancelRequested.catch(() => {
    isCancelled = true;
    changes++;
  });
  await CancellationScope.nonCancellable(async () => {
    do await pass();
    while (isOpen());
    setCurrentDetails(progress === null ? 'The session is gone' : describe(progress, 'done'));
    await condition(allHandlersFinished);
  });
  if (isCancelled) throw new CancelledFailure('The session was cancelled with its workflow');

  /** Whether there is news, work ended without ending the session, or it was deleted during the last step. */
  function isOpen(): boolean {
    return changes > seen || (progress !== null && (!progress.hasEnded || progress.isRemoved));
  }

  /** Reads the row, after what was due was done. */
  async function look(): Promise<SessionProgress | null> {
    seen = changes;
    if (isCancelled) await state.sessionHasEnded({ ...key, status: 'ended', reason: 'cancelled', detail: null });
    progress = await state.reevaluateSession(key);
    if (progress) setCurrentDetails(describe(progress, step));
    return progress;
  }

  /** Everything that is due for the session as it is. */
  async function pass(): Promise<void> {
    let now = await look();
    if (now?.status === 'provisioning') now = await during('provision', now, (at) => calls.provision(at));
    if (now?.status === 'live') now = await during('hold', now, (at) => calls.hold(at));
    if (now?.hasEnded && !now.isReleased) now = await doing('release', now, (at) => calls.release(at));
    if (!now?.isReleased) return;
    if (now.isRemoved) await doing('remove', now, () => calls.remove());
    else if (now.isProcessing) await doing('finish recording', now, (at) => calls.finishRecording(at));
  }

  async function doing(
    name: string,
    now: SessionProgress,
    work: (at: SessionProgress) => Promise<void>,
  ): Promise<SessionProgress | null> {
    step = name;
    setCurrentDetails(describe(now, step));
    await work(now);
    return look();
  }

  /** Does the work of a status while the session has it; when it has another, the work is cancelled. */
  async function during(
    name: string,
    before: SessionProgress,
    work: (at: SessionProgress) => Promise<void>,
  ): Promise<SessionProgress | null> {
    step = name;
    setCurrentDetails(describe(before, step));
    const scope = new CancellationScope({ cancellable: true, parent: CancellationScope.current() });
    let isOver = false;
    const isUnderWay = () => !isOver;
    let failure: { error: unknown } | undefined;
    const done = scope
      .run(() => work(before))
      .catch((error: unknown) => {
        if (!isCancellation(error)) failure = { error };
      })
      .finally(() => {
        isOver = true;
      });
    for (let now: SessionProgress | null = before; isUnderWay(); now = await look()) {
      if (now?.status !== before.status || now.isRemoved) {
        scope.cancel();
        break;
      }
      const summary = before.status === 'live' ? 'session expires' : 'provisioning is given up';
      await condition(() => isOver || changes > seen, Math.max(1, now.dueInMs ?? 1), { summary });
    }
    await done;
    if (failure) throw failure.error;
    return look();
  }
}

function describe({ status, statusReason, hostName, provider, expiresAt }: SessionProgress, step: string): string {
  const why = statusReason === null ? '' : ` (${statusReason})`;
  const until = status === 'live' ? ` until ${expiresAt}` : '';
  return `${status}${why}${until}; step: ${step}; ${hostName === null ? `provider: ${provider}` : `host: ${hostName}`}`;
}
