import { setImmediate } from 'node:timers/promises';

/** Executes work that pauses at each `yield`, and serves others in between. */
export async function inSteps<Result>(work: Generator<undefined, Result>): Promise<Result> {
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    await setImmediate();
  }
}
