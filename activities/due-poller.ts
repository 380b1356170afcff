/** Tells a hot lane when it should claim; lanes are named by ids. */
export interface DuePoller {
  /**
   * Resolves when the lane may have something due, or `withinMs` have passed.
   * @param claimed how many deliveries the lane has just claimed.
   */
  waitForDue: (laneId: string, claimed: number, withinMs: number) => Promise<void>;
}

/** How often it polls while lanes are busy: this is most of the time from a commit to the receiver. */
const TICK_MS = 5;
/** How often when nothing was due for `CALM_AFTER_MS`, or when each claim finds many. */
const LONGEST_TICK_MS = 15;
const CALM_AFTER_MS = 3_000;
const AFTER_ERROR_MS = 500;
/** So few lanes claim at each tick: to query first what is due would cost more. */
const UNQUERIED_MAX = 2;

/** One query per tick for all the hot lanes of the process, so that a lane that lingers costs next to nothing. */
export function createDuePoller(
  findDue: (laneIds: string[]) => Promise<string[]>,
  onError: (error: unknown) => void,
): DuePoller {
  const waiting = new Map<string, () => void>();
  let timer: NodeJS.Timeout | undefined;
  let isPolling = false;
  let lastBusyAt = 0;
  let lastClaimed = 0;

  const schedule = (afterMs: number) => {
    if (!isPolling && waiting.size > 0) timer ??= setTimeout(() => void tick(), afterMs);
  };
  /** The higher the load, the longer the tick, so that claims get larger instead of more. */
  const tickMs = () => {
    const isCalm = performance.now() - lastBusyAt > CALM_AFTER_MS;
    return isCalm ? LONGEST_TICK_MS : Math.min(LONGEST_TICK_MS, Math.max(TICK_MS, lastClaimed));
  };
  const tick = async () => {
    isPolling = true;
    timer = undefined;
    let nextInMs = AFTER_ERROR_MS;
    try {
      const lanes = [...waiting.keys()];
      const due = lanes.length > UNQUERIED_MAX ? await findDue(lanes) : lanes;
      for (const id of due) waiting.get(id)?.();
      nextInMs = tickMs();
    } catch (error) {
      onError(error);
    }
    isPolling = false;
    schedule(nextInMs);
  };

  return {
    waitForDue: (laneId, claimed, withinMs) =>
      new Promise((resolve) => {
        if (claimed > 0) lastBusyAt = performance.now();
        lastClaimed = claimed;
        const answer = () => {
          clearTimeout(timeout);
          if (waiting.get(laneId) === answer) waiting.delete(laneId);
          resolve();
        };
        const timeout = setTimeout(answer, withinMs);
        waiting.set(laneId, answer);
        schedule(tickMs());
      }),
  };
}
