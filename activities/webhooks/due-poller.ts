import type { LaneStore } from '../../domain/webhooks/lane-store.queries.ts';

/** Tells a hot lane when it should claim. */
export interface DuePoller {
  /**
   * Resolves when the lane may have something due, or `withinMs` have passed.
   * @param isBusy whether the lane had something due just now.
   */
  waitForDue: (webhookId: string, isBusy: boolean, withinMs: number) => Promise<void>;
}

/** How often it polls while lanes are busy: this is most of the time from a commit to the receiver. */
const TICK_MS = 5;
/** How often when nothing was due for `CALM_AFTER_MS`. */
const CALM_TICK_MS = 15;
const CALM_AFTER_MS = 3_000;
const AFTER_ERROR_MS = 500;
/** So few lanes claim at each tick: to query first what is due would cost more. */
const UNQUERIED_MAX = 2;

/** One query per tick for all the hot lanes of the process, so that a lane that lingers costs next to nothing. */
export function createDuePoller(store: Pick<LaneStore, 'dueWebhooks'>, onError: (error: unknown) => void): DuePoller {
  const waiting = new Map<string, () => void>();
  let timer: NodeJS.Timeout | undefined;
  let isPolling = false;
  let lastBusyAt = 0;

  const schedule = (afterMs: number) => {
    if (!isPolling && waiting.size > 0) timer ??= setTimeout(() => void tick(), afterMs);
  };
  const tickMs = () => (performance.now() - lastBusyAt > CALM_AFTER_MS ? CALM_TICK_MS : TICK_MS);
  const tick = async () => {
    isPolling = true;
    timer = undefined;
    let nextInMs = AFTER_ERROR_MS;
    try {
      const lanes = [...waiting.keys()];
      const due = lanes.length > UNQUERIED_MAX ? await store.dueWebhooks(lanes) : lanes;
      for (const id of due) waiting.get(id)?.();
      nextInMs = tickMs();
    } catch (error) {
      onError(error);
    }
    isPolling = false;
    schedule(nextInMs);
  };

  return {
    waitForDue: (webhookId, isBusy, withinMs) =>
      new Promise((resolve) => {
        if (isBusy) lastBusyAt = performance.now();
        const answer = () => {
          clearTimeout(timeout);
          if (waiting.get(webhookId) === answer) waiting.delete(webhookId);
          resolve();
        };
        const timeout = setTimeout(answer, withinMs);
        waiting.set(webhookId, answer);
        schedule(tickMs());
      }),
  };
}
