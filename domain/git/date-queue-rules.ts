/** A queue of commits, newest first; those of the same date are first in, first out. A binary heap. */
export class DateQueue {
  readonly #dateOf: (commit: number) => number;
  readonly #heap: { commit: number; date: number; arrival: number }[] = [];
  #arrivals = 0;

  constructor(dateOf: (commit: number) => number) {
    this.#dateOf = dateOf;
  }

  peek(): number | undefined {
    return this.#heap[0]?.commit;
  }

  some(holds: (commit: number) => boolean): boolean {
    return this.#heap.some(({ commit }) => holds(commit));
  }

  push(commit: number): void {
    this.#heap.push({ commit, date: this.#dateOf(commit), arrival: this.#arrivals++ });
    for (let at = this.#heap.length - 1; at > 0 && this.#isBefore(at, (at - 1) >> 1); at = (at - 1) >> 1)
      this.#swap(at, (at - 1) >> 1);
  }

  pop(): number | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (first === undefined || last === undefined || first === last) return first?.commit;
    this.#heap[0] = last;
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let best = at;
      if (left < this.#heap.length && this.#isBefore(left, best)) best = left;
      if (right < this.#heap.length && this.#isBefore(right, best)) best = right;
      if (best === at) return first.commit;
      this.#swap(at, best);
      at = best;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [left, right] = [this.#heap[a], this.#heap[b]];
    if (!left || !right) return false;
    return left.date === right.date ? left.arrival < right.arrival : left.date > right.date;
  }

  #swap(a: number, b: number): void {
    const [left, right] = [this.#heap[a], this.#heap[b]];
    if (!left || !right) return;
    this.#heap[a] = right;
    this.#heap[b] = left;
  }
}
