/** A queue of commits, newest first; those of the same date are first in, first out. A binary heap. */
export class DateQueue {
  readonly #dateOf: (commit: number) => number;
  /** Numbers of commits, and when each arrived: an object for each would be most of a long walk's garbage. */
  readonly #heap: number[] = [];
  readonly #arrivals: number[] = [];
  #arrived = 0;

  constructor(dateOf: (commit: number) => number) {
    this.#dateOf = dateOf;
  }

  peek(): number | undefined {
    return this.#heap[0];
  }

  some(holds: (commit: number) => boolean): boolean {
    return this.#heap.some(holds);
  }

  push(commit: number): void {
    this.#heap.push(commit);
    this.#arrivals.push(this.#arrived++);
    for (let at = this.#heap.length - 1; at > 0 && this.#isBefore(at, (at - 1) >> 1); at = (at - 1) >> 1)
      this.#swap(at, (at - 1) >> 1);
  }

  pop(): number | undefined {
    const last = this.#heap.length - 1;
    if (last > 0) this.#swap(0, last);
    const first = this.#heap.pop();
    this.#arrivals.pop();
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const right = left + 1;
      let best = at;
      if (left < last && this.#isBefore(left, best)) best = left;
      if (right < last && this.#isBefore(right, best)) best = right;
      if (best === at) return first;
      this.#swap(at, best);
      at = best;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const left = this.#dateOf(this.#heap[a] ?? 0);
    const right = this.#dateOf(this.#heap[b] ?? 0);
    return left === right ? (this.#arrivals[a] ?? 0) < (this.#arrivals[b] ?? 0) : left > right;
  }

  #swap(a: number, b: number): void {
    swap(this.#heap, a, b);
    swap(this.#arrivals, a, b);
  }
}

function swap(numbers: number[], a: number, b: number): void {
  const kept = numbers[a] ?? 0;
  numbers[a] = numbers[b] ?? 0;
  numbers[b] = kept;
}
