import { condition } from '@temporalio/workflow';

interface PollBackoffOptions {
  firstMs: number;
  longestMs: number;
}

/**
 * Waits for words that may be lost, in pauses between which the caller asks. They grow, so that the history of a run
 * that waits for months stays small, and are short again after a word.
 */
export class PollBackoff {
  readonly #options: PollBackoffOptions;
  #pauseMs: number;

  constructor(options: PollBackoffOptions) {
    this.#options = options;
    this.#pauseMs = options.firstMs;
  }

  /** Whether the word came; false when a pause is over, of at most so many milliseconds. */
  async wait(isThere: () => boolean, atMostMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const isTold = await condition(isThere, Math.min(this.#pauseMs, atMostMs));
    this.#pauseMs = isTold ? this.#options.firstMs : Math.min(this.#pauseMs * 2, this.#options.longestMs);
    return isTold;
  }
}

const MINUTE_MS = 60_000;

/** For what other workflows of ours tell, who say it again when it did not arrive. */
export const INTERNAL_POLL = { firstMs: 15 * MINUTE_MS, longestMs: 24 * 60 * MINUTE_MS } satisfies PollBackoffOptions;
/** For what hosts and workers outside report. */
export const EXTERNAL_POLL = { firstMs: MINUTE_MS / 2, longestMs: 10 * MINUTE_MS } satisfies PollBackoffOptions;
