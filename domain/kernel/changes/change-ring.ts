import { randomBytes } from 'node:crypto';
import { type Change, keyOfChange, type Position } from './change-rules.ts';

/** Changes of a tenant that a process remembers for streams that were cut. */
export const RING_SIZE = 1_000;

/** What follows a position, as far as it goes at once. */
export interface RingPage {
  changes: Change[];
  /** Everything up to here is among them, or not wanted. */
  upTo: number;
}

const newEpoch = (): string => randomBytes(8).toString('hex');

/** The last changes of one tenant, numbered from 1 within an epoch. */
export class ChangeRing {
  readonly #size: number;
  #kept: (Change | undefined)[] = [];
  #epoch = newEpoch();
  #last = 0;

  constructor(size = RING_SIZE) {
    this.#size = size;
  }

  get end(): Position {
    return { epoch: this.#epoch, n: this.#last };
  }

  add(changes: readonly Change[]): void {
    for (const change of changes) this.#kept[++this.#last % this.#size] = change;
  }

  /** Forgets everything: changes may have been missed, so that no earlier position can be continued. */
  interrupt(): void {
    this.#epoch = newEpoch();
    this.#kept = [];
    this.#last = 0;
  }

  /** Why a position cannot be continued; undefined: it can. */
  whyLost({ epoch, n }: Position): 'other_epoch' | 'too_old' | undefined {
    if (epoch !== this.#epoch || n > this.#last) return 'other_epoch';
    return n < this.#last - this.#size ? 'too_old' : undefined;
  }

  /** At most so many changes after a position that can be continued, each thing once. */
  after(n: number, limit: number, isWanted: (change: Change) => boolean): RingPage {
    const found = new Map<string, Change>();
    for (let at = n + 1; at <= this.#last; at++) {
      const change = this.#kept[at % this.#size];
      if (!change || !isWanted(change)) continue;
      const key = keyOfChange(change);
      if (found.has(key)) continue;
      if (found.size === limit) return { changes: [...found.values()], upTo: at - 1 };
      found.set(key, change);
    }
    return { changes: [...found.values()], upTo: this.#last };
  }
}
