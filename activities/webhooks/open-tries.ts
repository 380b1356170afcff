/** The tries of one pump that are under way. */
export class OpenTries {
  #size = 0;
  #failure: { error: unknown } | undefined;
  #oneEnded = Promise.withResolvers<void>();

  get size(): number {
    return this.#size;
  }

  add(tried: Promise<void>): void {
    this.#size++;
    void tried
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#size--;
        this.#oneEnded.resolve();
        this.#oneEnded = Promise.withResolvers();
      });
  }

  /** Waits until at most `size` are under way. */
  async downTo(size: number): Promise<void> {
    while (this.#size > size) await this.#oneEnded.promise;
  }

  /** Throws what a try threw, if one did. */
  throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
