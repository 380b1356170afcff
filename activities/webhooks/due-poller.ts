import type { LaneStore } from '../../domain/webhooks/lane-store.queries.ts';

/** Tells a hot lane that something is due. */
export interface DuePoller {
  /** Resolves true when the lane has something due, false when `withinMs` passed without. */
  waitForDue: (webhookId: string, withinMs: number) => Promise<boolean>;
}

/** How often it asks while lanes are busy: this is most of the time from a commit to the receiver. */
const TICK_MS = 5;
/** How often when nothing was due for `CALM_AFTER_MS`. */
const CALM_TICK_MS = 15;
const CALM_AFTER_MS = 3_000;
const AFTER_ERROR_MS = 500;

/** One query per tick asks for all the hot lanes of the process, so that a lane that lingers costs next to nothing. */
export function createDuePoller(store: Pick<LaneStore, 'dueWebhooks'>, onError: (error: unknown) => void): DuePoller {
  const waiting = new Map<string, (rang: boolean) => void>();
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;
  let lastRangAt = 0;

  const schedule = (afterMs: number) => {
    if (!isAsking && waiting.size > 0) timer ??= setTimeout(() => void tick(), afterMs);
  };
  const tickMs = () => (performance.now() - lastRangAt > CALM_AFTER_MS ? CALM_TICK_MS : TICK_MS);
  const tick = async () => {
    isAsking = true;
    timer = undefined;
    let nextInMs = AFTER_ERROR_MS;
    try {
      const dueWebhooks = await store.dueWebhooks([...waiting.keys()]);
      if (dueWebhooks.length > 0) lastRangAt = performance.now();
      for (const id of dueWebhooks) waiting.get(id)?.(true);
      nextInMs = tickMs();
    } catch (error) {
      onError(error);
    }
    isAsking = false;
    schedule(nextInMs);
  };

  return {
    waitForDue: (webhookId, withinMs) =>
      new Promise((resolve) => {
        const answer = (rang: boolean) => {
          clearTimeout(giveUp);
          if (waiting.get(webhookId) === answer) waiting.delete(webhookId);
          resolve(rang);
        };
        const giveUp = setTimeout(() => answer(false), withinMs);
        waiting.set(webhookId, answer);
        schedule(tickMs());
      }),
  };
}
