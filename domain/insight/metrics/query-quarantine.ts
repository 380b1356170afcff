import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** How long a query is refused. */
const KEPT_MS = 60 * 60_000;
/** The store was lost so often while a query ran: it counts twice for one that ran alone. */
const ENOUGH = 2;
/** Queries that are remembered; the ones that nobody has asked for longest are forgotten first. */
const REMEMBERED_MAX = 1_000;

/** A query at the store. */
export interface RunningQuery {
  /** The store was lost while it ran. */
  wasLost: () => void;
  /** It runs no more; repeating that is fine. */
  end: () => void;
}

/** Remembers, by a digest, which queries ran when the store was lost. Of one process. */
export class QueryQuarantine {
  readonly #lost = new LRUCache<string, { times: number; until: number }>({ max: REMEMBERED_MAX });
  readonly #running = new Set<{ digest: string; isAlone: boolean }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Undefined: the query is not to be asked. */
  begin(query: string): RunningQuery | undefined {
    const digest = createHash('sha256').update(query).digest('base64');
    const known = this.#lost.get(digest);
    if (known && known.until <= this.#now()) this.#lost.delete(digest);
    else if (known && known.times >= ENOUGH) return undefined;
    const others = [...this.#running].filter((one) => one.digest !== digest);
    for (const other of others) other.isAlone = false;
    const running = { digest, isAlone: others.length === 0 };
    this.#running.add(running);
    return {
      wasLost: () => this.#note(digest, running.isAlone ? ENOUGH : 1),
      end: () => void this.#running.delete(running),
    };
  }

  #note(digest: string, times: number): void {
    const before = this.#lost.get(digest)?.times ?? 0;
    this.#lost.set(digest, { times: before + times, until: this.#now() + KEPT_MS });
  }
}
