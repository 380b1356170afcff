import { ActivityFailure, CancellationScope, isCancellation, proxyActivities, sleep } from '@temporalio/workflow';
import type { ProvidedSessionActivities } from '../../../activities/review/browser-sessions/browser-sessions.activities.ts';
import type { StartUrlActivities } from '../../../activities/review/browser-sessions/start-urls.activities.ts';
import type {
  SessionKey,
  SessionStateActivities,
} from '../../../activities/review/browser-sessions/session-state.activities.ts';
import type { SessionProgress } from '../../../domain/review/browser-sessions/session-progress.mutations.ts';
import { statusOfEnd, type StatusReason } from '../../../domain/review/browser-sessions/session-rules.ts';
import {
  BROWSER_CLEAN_UP,
  BROWSER_CLEAN_UP_ON_HOST,
  BROWSER_HOLD,
  BROWSER_HOLD_ON_HOST,
  BROWSER_PROVISION,
  BROWSER_START_URL,
} from '../../activity-options.ts';
import { CRM_QUEUE } from '../../queues.contract.ts';
import { queueBeside } from '../../delivery/flows/queues.ts';
import type { SealedStartUrl } from './browser-session.contract.ts';
import { BROWSER_SESSIONS_QUEUE } from '../../queues.contract.ts';

type Calls = ProvidedSessionActivities;
/** A host that did not take its work, and is not known to be gone, is asked again after this time. */
const HOST_PAUSE_MS = 2_000;

/** What is asked of the provider of a session, on the browser host that allocates it, or on an ordinary worker. */
export class BrowserCalls {
  readonly #key: SessionKey;
  readonly #state: Pick<
    SessionStateActivities,
    'hostIsGone' | 'sessionHasEnded' | 'sessionIsReleased' | 'forgetSession'
  >;

  constructor(key: SessionKey, state: SessionStateActivities) {
    this.#key = key;
    this.#state = state;
  }

  /** Has a browser allocated; what keeps it from that ends the session. */
  async provision({ provider }: SessionProgress): Promise<void> {
    if (provider === 'external') return untilCancelled();
    const taskQueue = queueBeside(provider === 'local' ? BROWSER_SESSIONS_QUEUE : CRM_QUEUE);
    try {
      const refusal = await proxyActivities<Calls>({ ...BROWSER_PROVISION, taskQueue }).provisionSession(this.#key);
      if (refusal) await this.#end(refusal.reason, refusal.detail);
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      // Given up by the row, when that is due.
      await untilCancelled();
    }
  }

  /** For a host that provisions the session. It asks again when this fails. */
  openStartUrl(hostId: string): Promise<SealedStartUrl> {
    const options = { ...BROWSER_START_URL, taskQueue: queueBeside(CRM_QUEUE) };
    return proxyActivities<StartUrlActivities>(options).openStartUrl({ ...this.#key, hostId });
  }

  /** Watches a browser that is allocated, until it ends by itself. */
  async hold({ provider, hostQueue }: SessionProgress): Promise<void> {
    if (provider === 'external') return untilCancelled();
    const options =
      provider === 'local'
        ? { ...BROWSER_HOLD_ON_HOST, taskQueue: queueBeside(hostQueue ?? BROWSER_SESSIONS_QUEUE) }
        : { ...BROWSER_HOLD, taskQueue: queueBeside(CRM_QUEUE) };
    try {
      const ending = await proxyActivities<Calls>(options).holdSession(this.#key);
      if (ending) await this.#end(ending.reason, ending.detail);
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      await this.#end(provider === 'local' ? 'host_lost' : 'provider_unavailable', null);
    }
  }

  /** Has the provider end the session, until it says that nothing of it runs. */
  async release({ provider, hostQueue, isHostGone }: SessionProgress): Promise<void> {
    if (provider === 'browserbase') await onWorkers().releaseSession(this.#key);
    if (provider === 'local' && hostQueue !== null && !isHostGone)
      await this.#onHost(hostQueue, (calls) => calls.releaseSession(this.#key));
    await this.#state.sessionIsReleased(this.#key);
  }

  /** Waits until what was recorded can be played. Of a host that is gone, it is what had been stored by then. */
  async finishRecording({ provider, hostQueue, isHostGone }: SessionProgress): Promise<void> {
    const isDone =
      provider === 'local' &&
      hostQueue !== null &&
      !isHostGone &&
      (await this.#onHost(hostQueue, (calls) => calls.finishRecording(this.#key)));
    if (!isDone) await onWorkers().finishRecording(this.#key);
  }

  /** Removes what was recorded, and the row. */
  async remove(): Promise<void> {
    await onWorkers().removeRecording(this.#key);
    await this.#state.forgetSession(this.#key);
  }

  /** Has a host do what only it can do, until that is done; false: the host is gone. */
  async #onHost(queue: string, work: (calls: Calls) => Promise<unknown>): Promise<boolean> {
    for (;;) {
      try {
        await work(proxyActivities<Calls>({ ...BROWSER_CLEAN_UP_ON_HOST, taskQueue: queueBeside(queue) }));
        return true;
      } catch (error) {
        if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
        if (await this.#state.hostIsGone(this.#key)) return false;
        await sleep(HOST_PAUSE_MS, { summary: 'host of the browser answers again' });
      }
    }
  }

  #end(reason: StatusReason, detail: string | null): Promise<void> {
    return this.#state.sessionHasEnded({ ...this.#key, status: statusOfEnd(reason), reason, detail });
  }
}

const onWorkers = () => proxyActivities<Calls>({ ...BROWSER_CLEAN_UP, taskQueue: queueBeside(CRM_QUEUE) });

/** Waits until the scope is cancelled, and rejects. */
const untilCancelled = (): Promise<never> => CancellationScope.current().cancelRequested;
