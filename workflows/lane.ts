import { condition, type SignalDefinition, setHandler, workflowInfo } from '@temporalio/workflow';

interface LaneParts {
  /** There is something new to do. */
  signal: SignalDefinition;
  /**
   * Does what is due. Answers in how many ms there is more to do, 0 for at once; null when nothing is left.
   * @param isSignalled whether something new came since it began.
   */
  pump: (isSignalled: () => boolean) => Promise<number | null>;
  /** Continues as new with what is known then. */
  again: () => Promise<never>;
  /** What a pause is for, as people read it. */
  pausedUntil?: string;
}

/**
 * Pumps while there is something to do, then completes; a signal starts it again. No signal is lost at the end: one that
 * came during the last pump is seen, and when one comes while this code decides to complete, the server refuses the
 * completion and replays it with the signal.
 */
export async function runLane({ signal, pump, again, pausedUntil = 'next attempt' }: LaneParts): Promise<void> {
  let hasSignal = false;
  const isSignalled = () => hasSignal;
  setHandler(signal, () => {
    hasSignal = true;
  });
  for (;;) {
    hasSignal = false;
    const nextDueInMs = await pump(isSignalled);
    if (!isSignalled()) {
      if (nextDueInMs === null) return;
      if (nextDueInMs > 0) await condition(isSignalled, nextDueInMs, { summary: pausedUntil });
    }
    if (workflowInfo().continueAsNewSuggested) await again();
  }
}
