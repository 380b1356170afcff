/** How often a minute a host of a tenant is asked by a worker only so that people see more; each time by 5 calls at most. */
const LOOKS_PER_MINUTE = 12;
const MINUTE_MS = 60_000;
const HOSTS_MAX = 10_000;

interface Budget {
  left: number;
  /** When it is full again, or when its host may be asked again. */
  until: number;
  isPaused: boolean;
}

/** What this process may still ask hosts for the output of pipelines. */
export class PipelineLooks {
  readonly #budgets = new Map<string, Budget>();
  readonly #perMinute: number;

  constructor(perMinute = LOOKS_PER_MINUTE) {
    this.#perMinute = perMinute;
  }

  /** Takes one look at a host. `none`: only what must be asked is asked now; `paused`: nothing is. */
  take(host: string, now: number): 'taken' | 'none' | 'paused' {
    const budget = this.#budgets.get(host);
    if (!budget || budget.until <= now) {
      if (this.#budgets.size >= HOSTS_MAX) this.#budgets.clear();
      this.#budgets.set(host, { left: this.#perMinute - 1, until: now + MINUTE_MS, isPaused: false });
      return 'taken';
    }
    if (budget.isPaused) return 'paused';
    if (budget.left <= 0) return 'none';
    budget.left--;
    return 'taken';
  }

  /** A host wants to be left alone for a time. */
  pause(host: string, forMs: number, now: number): void {
    this.#budgets.set(host, { left: 0, until: now + forMs, isPaused: true });
  }
}
