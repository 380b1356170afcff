/** Items on which work is under way, at most so many at a time, and those that wait for it. */
export class WorkQueue<Item> {
  readonly #begin: (item: Item) => Promise<void>;
  readonly #openMax: number;
  #waiting: Item[] = [];
  #open = 0;
  #failure: { error: unknown } | undefined;
  #watchers: { size: number; resolve: () => void }[] = [];

  constructor(begin: (item: Item) => Promise<void>, openMax = Number.POSITIVE_INFINITY) {
    this.#begin = begin;
    this.#openMax = openMax;
  }

  /** Items that are under way or wait. */
  get size(): number {
    return this.#waiting.length + this.#open;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#beginNext();
  }

  /** Takes out the items that wait. */
  removeWaiting(): Item[] {
    return this.#waiting.splice(0);
  }

  /** Waits until at most `size` items are left. */
  async downTo(size: number): Promise<void> {
    if (this.size > size) await new Promise<void>((resolve) => this.#watchers.push({ size, resolve }));
  }

  /** Throws what the work on one of them threw, if any did. */
  throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  #beginNext(): void {
    while (this.#open < this.#openMax && this.#waiting.length > 0) {
      this.#open++;
      void this.#begin(this.#waiting.shift() as Item).then(this.#onEnd, this.#onFailure);
    }
  }

  readonly #onFailure = (error: unknown) => {
    this.#failure ??= { error };
    this.#onEnd();
  };

  readonly #onEnd = () => {
    this.#open--;
    this.#beginNext();
    if (this.#watchers.length === 0) return;
    const { size } = this;
    for (const watcher of this.#watchers) if (size <= watcher.size) watcher.resolve();
    this.#watchers = this.#watchers.filter((watcher) => size > watcher.size);
  };
}
