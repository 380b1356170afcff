import { DomainError } from '../shared/errors.ts';

export interface SlotLimits {
  /** What is done in them, in refusals: `slow queries`. */
  works: string;
  total: number;
  /** Slots that one holder may have, such as a tenant, while so many are free; absent: all. */
  perHolder?: number | ((free: number) => number);
  /** Works of one holder that may wait; absent: however many there are. */
  waitingPerHolder?: number;
  /** How long a work waits before it is refused; absent: until it has its turn. */
  waitMs?: number;
  /** For how many times as long as a work ran its slot stays empty, so that others have the CPU meanwhile. */
  restFactor?: number;
  /** What goes on with something that has begun comes before what has not, in its holder's line. */
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
  taken: number;
  waiting: Waiting[];
}

const RETRY_AFTER_SECONDS = 2;
/** Works that take less leave their slot at once. */
const BRIEF_MS = 50;
const REST_MAX_MS = 10_000;

/** Lets few works run at a time, of each holder fewer still, and gives a free slot to the holders in turn. */
export class Slots {
  readonly #limits: SlotLimits;
  /** Holders with works under way; the one that was served last comes last. */
  readonly #lines = new Map<string, Line>();
  #taken = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Whether a holder has works that run or wait. */
  isUsedBy(holder: string): boolean {
    return this.#lines.has(holder);
  }

  /** Takes a free slot, and answers how it is given back; repeating that is fine. Undefined: there is none. */
  take(holder: string): (() => void) | undefined {
    const line = this.#lineOf(holder);
    if (!this.#hasSlotFor(line)) {
      this.#tidy(holder, line);
      return undefined;
    }
    this.#begin(line);
    let isTaken = true;
    return () => {
      if (isTaken) this.#end(holder, line);
      isTaken = false;
    };
  }

  /**
   * Runs a work when there is a slot for it. Throws `rate_limited` when too many of the holder wait already, and
   * `unavailable` when it has waited too long.
   */
  async run<T>(holder: string, work: () => Promise<T>, { signal, isContinued = false }: Entry = {}): Promise<T> {
    signal?.throwIfAborted();
    const { waitingPerHolder = Number.POSITIVE_INFINITY, restFactor = 0 } = this.#limits;
    const line = this.#lineOf(holder);
    if (this.#hasSlotFor(line)) this.#begin(line);
    else if (!isContinued && line.waiting.length >= waitingPerHolder) {
      this.#tidy(holder, line);
      throw tooMany(this.#limits);
    } else await this.#wait(holder, line, { signal, isContinued });
    const beganAt = performance.now();
    try {
      return await work();
    } finally {
      const ranMs = performance.now() - beganAt;
      const restMs = ranMs < BRIEF_MS ? 0 : Math.min(ranMs * restFactor, REST_MAX_MS);
      if (restMs === 0) this.#end(holder, line);
      else setTimeout(() => this.#end(holder, line), restMs).unref();
    }
  }

  #lineOf(holder: string): Line {
    const line = this.#lines.get(holder) ?? { taken: 0, waiting: [] };
    this.#lines.set(holder, line);
    return line;
  }

  #end(holder: string, line: Line): void {
    line.taken--;
    this.#taken--;
    this.#tidy(holder, line);
    this.#beginNext();
  }

  #hasSlotFor({ taken }: Line): boolean {
    const { total, perHolder = total } = this.#limits;
    const free = total - this.#taken;
    return free > 0 && taken < (typeof perHolder === 'function' ? perHolder(free) : perHolder);
  }

  #begin(line: Line): void {
    line.taken++;
    this.#taken++;
  }

  #beginNext(): void {
    for (const [holder, line] of this.#lines) {
      if (line.waiting.length === 0 || !this.#hasSlotFor(line)) continue;
      this.#lines.delete(holder);
      this.#lines.set(holder, line);
      this.#begin(line);
      line.waiting.shift()?.begin();
      return;
    }
  }

  async #wait(
    holder: string,
    line: Line,
    { signal, isContinued }: { signal: AbortSignal | undefined; isContinued: boolean },
  ): Promise<void> {
    const { waitMs, isContinuedFirst } = this.#limits;
    const turn = Promise.withResolvers<void>();
    const entry: Waiting = { begin: turn.resolve, isContinued };
    const firstToBegin = line.waiting.findIndex((each) => !each.isContinued);
    if (isContinued && isContinuedFirst && firstToBegin !== -1) line.waiting.splice(firstToBegin, 0, entry);
    else line.waiting.push(entry);
    const leave = (reason: unknown) => {
      const at = line.waiting.indexOf(entry);
      if (at === -1) return;
      line.waiting.splice(at, 1);
      this.#tidy(holder, line);
      turn.reject(reason);
    };
    const timer = waitMs === undefined ? undefined : setTimeout(() => leave(tooLong(this.#limits)), waitMs);
    const onAbort = () => leave(signal?.reason);
    signal?.addEventListener('abort', onAbort);
    try {
      await turn.promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #tidy(holder: string, { taken, waiting }: Line): void {
    if (taken === 0 && waiting.length === 0) this.#lines.delete(holder);
  }
}

const tooMany = ({ works }: SlotLimits) =>
  new DomainError('rate_limited', `Too many ${works} of this tenant are waiting already; try again later`, {
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  });

const tooLong = ({ works }: SlotLimits) =>
  new DomainError('unavailable', `The ${works} before this one took too long; try again later`);
