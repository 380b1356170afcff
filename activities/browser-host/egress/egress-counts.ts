import type { EgressCounts } from '../chromium/browser.ts';

const NAMES_MAX = 200;

/** Counts what goes through a way out, and says once when that is too much. */
export class EgressTally implements EgressCounts {
  connections = 0;
  bytes = 0;
  readonly allowed = new Map<string, number>();
  readonly refused = new Map<string, number>();
  readonly #maxBytes: number;
  readonly #onUsedUp: () => void;

  constructor(maxBytes: number, onUsedUp: () => void) {
    this.#maxBytes = maxBytes;
    this.#onUsedUp = onUsedUp;
  }

  countAllowed(host: string): void {
    this.connections += 1;
    countName(this.allowed, host);
  }

  countRefused(host: string): void {
    countName(this.refused, host);
  }

  countBytes(bytes: number): void {
    const before = this.bytes;
    this.bytes += bytes;
    if (before <= this.#maxBytes && this.bytes > this.#maxBytes) this.#onUsedUp();
  }

  get isUsedUp(): boolean {
    return this.bytes > this.#maxBytes;
  }
}

/** A page may ask for any number of names: further ones are not kept. */
function countName(counts: Map<string, number>, host: string): void {
  const count = counts.get(host);
  if (count !== undefined || counts.size < NAMES_MAX) counts.set(host, (count ?? 0) + 1);
}
