import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RunningBrowser } from './browser.ts';

/** After a browser was taken, the next one waits: its start is not to slow down the session that has just begun. */
const REFILL_AFTER_MS = 2_000;
const FAILED_PAUSE_MS = 30_000;

/** Browsers that have started, and wait for a session. */
export class Spares {
  readonly #count: number;
  readonly #start: () => Promise<RunningBrowser>;
  readonly #log: Logger;
  readonly #waiting = new Set<RunningBrowser>();
  #filling: Promise<void> | undefined;
  #isClosed = false;

  constructor(count: number, start: () => Promise<RunningBrowser>, log: Logger) {
    this.#count = count;
    this.#start = start;
    this.#log = log;
  }

  /** Resolves when they wait. */
  fill(): Promise<void> {
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  /** One of them, which belongs to the caller then; undefined: none is there. */
  take(): RunningBrowser | undefined {
    const [browser] = this.#waiting;
    if (!browser) return undefined;
    this.#waiting.delete(browser);
    setTimeout(() => void this.fill(), REFILL_AFTER_MS).unref();
    return browser;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#filling;
    await Promise.all(
      [...this.#waiting].map((browser) => {
        browser.kill({ reason: 'stopped', detail: null });
        return browser.ended;
      }),
    );
  }

  async #fill(): Promise<void> {
    while (!this.#isClosed && this.#waiting.size < this.#count) {
      try {
        const browser = await this.#start();
        this.#waiting.add(browser);
        void browser.ended.then(() => this.#lost(browser));
      } catch (error) {
        this.#log.warn({ err: error }, 'a spare browser did not start');
        await sleep(FAILED_PAUSE_MS, undefined, { ref: false });
      }
    }
    if (this.#isClosed) for (const browser of this.#waiting) browser.kill({ reason: 'stopped', detail: null });
  }

  #lost(browser: RunningBrowser): void {
    if (this.#waiting.delete(browser) && !this.#isClosed) void this.fill();
  }
}
