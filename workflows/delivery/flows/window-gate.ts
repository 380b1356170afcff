import { setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { RunStepActivities } from '../../../activities/delivery/flows/run-steps.activities.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { windowChangedSignal } from './flow-run.contract.ts';
import { PollBackoff, WINDOW_POLL } from './poll-backoff.ts';

/** Clocks of workers differ a little: sooner than that nothing is asked again. */
const LEAST_MS = 1_000;

/**
 * The window for which one run waits, what must be deployed before it, and the end of a hold of its release. Whatever changes meanwhile is noticed by a
 * signal, which may be lost, and at the end of each pause.
 */
export class WindowGate {
  readonly #run: RunKey;
  readonly #awaitWindow: RunStepActivities['awaitWindow'];
  #hasChanged = false;

  constructor(run: RunKey, awaitWindow: RunStepActivities['awaitWindow']) {
    this.#run = run;
    this.#awaitWindow = awaitWindow;
    setHandler(windowChangedSignal, () => {
      this.#hasChanged = true;
    });
  }

  /** Waits until the run may go on; returns the outcome of the run when it may not. */
  async pass(): Promise<RunOutcome | undefined> {
    const backoff = new PollBackoff(WINDOW_POLL, 'wait for the window, or check it again');
    for (;;) {
      this.#hasChanged = false;
      const state = await this.#awaitWindow(this.#run);
      if (state.isOpen) return undefined;
      if (state.outcome) return state.outcome;
      const { nextWindowAt, waitMs, reason } = state;
      setCurrentDetails(`Waiting, next at ${nextWindowAt ?? 'a time that is not known yet'}: ${reason}`);
      await backoff.wait(() => this.#hasChanged, waitMs === null ? undefined : Math.max(LEAST_MS, waitMs));
    }
  }
}
