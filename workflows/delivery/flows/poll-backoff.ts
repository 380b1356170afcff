import { condition } from '@temporalio/workflow';

interface PollBackoffOptions {
  firstMs: number;
  longestMs: number;
  /** By what each pause is longer than the one before; 2 where nothing is said. */
  factor?: number;
}

/**
 * Waits for signals that may be lost, in pauses between which the caller polls. The pauses grow, so that the history of
 * a run that waits for months stays small, and are short again after a signal.
 */
export class PollBackoff {
  readonly #options: PollBackoffOptions;
  readonly #summary: string;
  #pauseMs: number;

  /** @param summary what happens after a pause, as the timers show it. */
  constructor(options: PollBackoffOptions, summary: string) {
    this.#options = options;
    this.#summary = summary;
    this.#pauseMs = options.firstMs;
  }

  /** Whether the signal arrived; false when the pause, of at most `maxMs`, has passed. */
  async wait(hasArrived: () => boolean, maxMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const isSignalled = await condition(hasArrived, Math.min(this.#pauseMs, maxMs), {
      summary: this.#summary,
    });
    const { firstMs, longestMs, factor = 2 } = this.#options;
    this.#pauseMs = isSignalled ? firstMs : Math.min(this.#pauseMs * factor, longestMs);
    return isSignalled;
  }
}

const MINUTE_MS = 60_000;

/** For signals of our own workflows, which are repeated when they did not arrive. */
export const INTERNAL_POLL = { firstMs: 15 * MINUTE_MS, longestMs: 24 * 60 * MINUTE_MS } satisfies PollBackoffOptions;
/** For windows, which are rarely moved; a pause ends when the window opens. */
export const WINDOW_POLL = { firstMs: 5 * MINUTE_MS, longestMs: 120 * MINUTE_MS } satisfies PollBackoffOptions;
/** For pipelines, of which people see what they print: a twentieth of the time that they have gone on. */
export const PIPELINE_POLL = {
  firstMs: 5_000,
  longestMs: 5 * MINUTE_MS,
  factor: 1.05,
} satisfies PollBackoffOptions;
