import { setImmediate } from 'node:timers/promises';

/** Lets the rest of the process have its turn when an evaluation of many parts has lasted long enough. */
export class Turns {
  readonly #lengthMs: number;
  #until: number;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
    this.#until = performance.now() + lengthMs;
  }

  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Begins the next turn, when all others that wait have had theirs. */
  async next(): Promise<void> {
    await setImmediate();
    this.#until = performance.now() + this.#lengthMs;
  }
}
