/** Works that are under way, which somebody may wait for. */
export class UnderWay {
  #size = 0;
  #failure: { error: unknown } | undefined;
  readonly #watchers = new Set<{ size: number; resolve: () => void }>();

  get size(): number {
    return this.#size;
  }

  add(work: Promise<void>): void {
    this.#size++;
    work
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#size--;
        for (const { size, resolve } of this.#watchers) if (this.#size <= size) resolve();
      });
  }

  /** Waits until at most `size` of them are left, or some time has passed. */
  async downTo(size: number, withinMs?: number): Promise<void> {
    if (this.#size <= size) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const watcher = { size, resolve };
    this.#watchers.add(watcher);
    const timer = withinMs === undefined ? undefined : setTimeout(resolve, withinMs);
    await promise;
    clearTimeout(timer);
    this.#watchers.delete(watcher);
  }

  /** Throws what one of them threw, if any did. */
  throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
