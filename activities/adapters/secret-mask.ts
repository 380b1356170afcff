const MASK = Buffer.from('***');

/** Masks a secret in bytes that come in pieces, also where it is cut by the end of one. */
export class SecretMask {
  readonly #secret: Buffer;
  /** The end of what came, which may be the begin of the secret. */
  #held: Buffer = Buffer.alloc(0);

  constructor(secret: string) {
    this.#secret = Buffer.from(secret);
  }

  /** What is known to be no part of the secret. */
  take(piece: Buffer): Buffer {
    const all = this.#held.length > 0 ? Buffer.concat([this.#held, piece]) : piece;
    const parts: Buffer[] = [];
    let from = 0;
    for (let at = all.indexOf(this.#secret); at >= 0; at = all.indexOf(this.#secret, from)) {
      parts.push(all.subarray(from, at), MASK);
      from = at + this.#secret.length;
    }
    const end = all.length - this.#heldAtEnd(all.subarray(from));
    parts.push(all.subarray(from, end));
    this.#held = all.subarray(end);
    return parts.length === 1 ? all.subarray(from, end) : Buffer.concat(parts);
  }

  /** The rest, when no more comes. */
  end(): Buffer {
    return this.#held;
  }

  /** How many of the last bytes are a begin of the secret. */
  #heldAtEnd(bytes: Buffer): number {
    for (let length = Math.min(bytes.length, this.#secret.length - 1); length > 0; length--)
      if (this.#secret.subarray(0, length).equals(bytes.subarray(bytes.length - length))) return length;
    return 0;
  }
}
