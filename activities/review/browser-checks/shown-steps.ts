import { noteRunProgress, sayLines } from '../../../domain/delivery/flows/run-progress.mutations.ts';
import { progressOfRun } from '../../../domain/delivery/flows/run-progress-rules.ts';
import { runById, type RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { type BrowserRecording, labelOfStep } from '../../../domain/projects/policies/browser-recording-rules.ts';
import { playedSteps, stepLine } from '../../../domain/review/browser-checks/check-outcome-rules.ts';
import type { StepEnd } from '../../../domain/review/browser-checks/recording-player.port.ts';
import type { Deps } from '../../deps.ts';

const TELL_EVERY_MS = 1_000;

/** Shows on a run which steps were played, at most once a second. */
export class ShownSteps {
  readonly #of: { deps: Pick<Deps, 'actingAs' | 'reads' | 'log'>; tenant: TenantKey; run: RunContext };
  readonly #recording: BrowserRecording;
  #ends: readonly StepEnd[] = [];
  #said = 0;
  #telling: Promise<void> | undefined;

  constructor(of: { deps: Deps; tenant: TenantKey; run: RunContext }, recording: BrowserRecording) {
    this.#of = of;
    this.#recording = recording;
  }

  /** Has the steps shown that ended; returns at once. */
  tell(ends: readonly StepEnd[]): void {
    this.#ends = ends;
    this.#telling ??= this.#later();
  }

  /** Shows the rest. */
  async finish(): Promise<void> {
    await this.#telling;
    await this.#show();
  }

  async #later(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, TELL_EVERY_MS));
    this.#telling = undefined;
    await this.#show();
  }

  /** What is not shown now is with the next step; the result has all of it. */
  async #show(): Promise<void> {
    const { deps, tenant, run } = this.#of;
    const steps = playedSteps(this.#recording, this.#ends);
    const done = this.#ends.length;
    if (done === this.#said) return;
    const lines = steps.slice(this.#said, done).map(stepLine);
    const next = this.#recording.steps[done];
    const counts = { steps: steps.length, stepsDone: done };
    const isFailed = this.#ends.some(({ failure }) => failure !== undefined);
    const going = next ? `Step ${done + 1}, ${labelOfStep(next)}` : 'Played';
    const progress = progressOfRun(isFailed ? `Failed in step ${done}` : going, { counts });
    try {
      await deps.actingAs(systemActor(tenant, 'flow'))(async (tx) => {
        await sayLines(tx, run, lines);
        await noteRunProgress(tx, await runById(tx, run.id), progress);
      });
      this.#said = done;
    } catch (error) {
      deps.log.warn({ err: error, runId: run.id }, 'steps of a browser check were not shown');
    }
  }
}
