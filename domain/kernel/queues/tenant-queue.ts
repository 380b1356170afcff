import { DomainError } from '../shared/errors.ts';

export interface TenantQueueLimits {
  /** What it lets run, in refusals: `slow queries`. */
  works: string;
  /** Works of all tenants that run at a time. */
  running: number;
  runningPerTenant: number;
  waitingPerTenant: number;
  /** How long a work waits before it is refused. */
  waitMs: number;
  /** For how many times as long as a work ran its place stays empty, so that others have the CPU meanwhile. */
  restFactor: number;
  /** What goes on with something that has begun comes before what has not, in its tenant's line. */
  isContinuedFirst?: boolean;
}

export interface Entry {
  /** Aborted: it waits no longer. */
  signal?: AbortSignal | undefined;
  /** It goes on with something that has begun: it waits however many do. */
  isContinued?: boolean | undefined;
}

interface Waiting {
  begin: () => void;
  isContinued: boolean;
}

interface Line {
  running: number;
  waiting: Waiting[];
}

const RETRY_AFTER_SECONDS = 2;
/** Works that take less leave their place at once. */
const BRIEF_MS = 50;
const REST_MAX_MS = 10_000;

/** Lets few works run at a time, of each tenant fewer still, and gives a free place to the tenants in turn. */
export class TenantQueue {
  readonly #limits: TenantQueueLimits;
  /** Tenants with works under way; the one that was served last comes last. */
  readonly #lines = new Map<string, Line>();
  #running = 0;

  constructor(limits: TenantQueueLimits) {
    this.#limits = limits;
  }

  /** Whether a tenant has works that run or wait. */
  isUsedBy(tenantId: string): boolean {
    return this.#lines.has(tenantId);
  }

  /**
   * Runs a work when there is a place for it. Throws `rate_limited` when too many of the tenant wait already, and
   * `unavailable` when it has waited too long.
   */
  async run<T>(tenantId: string, work: () => Promise<T>, { signal, isContinued = false }: Entry = {}): Promise<T> {
    signal?.throwIfAborted();
    const line = this.#lines.get(tenantId) ?? { running: 0, waiting: [] };
    this.#lines.set(tenantId, line);
    if (this.#hasPlaceFor(line)) this.#begin(line);
    else if (!isContinued && line.waiting.length >= this.#limits.waitingPerTenant) throw tooMany(this.#limits);
    else await this.#wait(tenantId, line, { signal, isContinued });
    const beganAt = performance.now();
    try {
      return await work();
    } finally {
      const ranMs = performance.now() - beganAt;
      const restMs = ranMs < BRIEF_MS ? 0 : Math.min(ranMs * this.#limits.restFactor, REST_MAX_MS);
      if (restMs === 0) this.#end(tenantId, line);
      else {
        setTimeout(() => this.#end(tenantId, line), restMs).unref();
      }
    }
  }

  #end(tenantId: string, line: Line): void {
    line.running--;
    this.#running--;
    this.#tidy(tenantId, line);
    this.#beginNext();
  }

  #hasPlaceFor({ running }: Line): boolean {
    return this.#running < this.#limits.running && running < this.#limits.runningPerTenant;
  }

  #begin(line: Line): void {
    line.running++;
    this.#running++;
  }

  #beginNext(): void {
    for (const [tenantId, line] of this.#lines) {
      if (line.waiting.length === 0 || !this.#hasPlaceFor(line)) continue;
      this.#lines.delete(tenantId);
      this.#lines.set(tenantId, line);
      this.#begin(line);
      line.waiting.shift()?.begin();
      return;
    }
  }

  async #wait(
    tenantId: string,
    line: Line,
    { signal, isContinued }: { signal: AbortSignal | undefined; isContinued: boolean },
  ): Promise<void> {
    const place = Promise.withResolvers<void>();
    const entry: Waiting = { begin: place.resolve, isContinued };
    const firstToBegin = line.waiting.findIndex((each) => !each.isContinued);
    if (isContinued && this.#limits.isContinuedFirst && firstToBegin !== -1)
      line.waiting.splice(firstToBegin, 0, entry);
    else line.waiting.push(entry);
    const leave = (reason: unknown) => {
      const at = line.waiting.indexOf(entry);
      if (at === -1) return;
      line.waiting.splice(at, 1);
      this.#tidy(tenantId, line);
      place.reject(reason);
    };
    const timer = setTimeout(() => leave(tooLong(this.#limits)), this.#limits.waitMs);
    const onAbort = () => leave(signal?.reason);
    signal?.addEventListener('abort', onAbort);
    try {
      await place.promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #tidy(tenantId: string, { running, waiting }: Line): void {
    if (running === 0 && waiting.length === 0) this.#lines.delete(tenantId);
  }
}

const tooMany = ({ works }: TenantQueueLimits) =>
  new DomainError('rate_limited', `Too many ${works} of this tenant are waiting already; try again later`, {
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  });

const tooLong = ({ works }: TenantQueueLimits) =>
  new DomainError('unavailable', `The ${works} before this one took too long; try again later`);
