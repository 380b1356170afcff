/** Messages that end with a NUL, put together from chunks in time linear to their bytes. */
export class MessageSplitter {
  readonly #maxBytes: number;
  readonly #onMessage: (message: Buffer) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  /** @param maxBytes of a message; a longer one makes `add` throw. */
  constructor(maxBytes: number, onMessage: (message: Buffer) => void) {
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
  }

  /** Throws `RangeError` for a message that is too long; the connection is of no use then. */
  add(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, from)) {
      this.#keep(chunk.subarray(from, end));
      const [only] = this.#parts;
      const message = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts, this.#bytes);
      this.#parts = [];
      this.#bytes = 0;
      this.#onMessage(message);
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) throw new RangeError(`A message of more than ${this.#maxBytes} bytes`);
    this.#parts.push(part);
  }
}
