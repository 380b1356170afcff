/** A JSON value of a stranger, read member by member: what is not there, or of another kind, is null. */
export class ForeignJson {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  at(...path: (string | number)[]): ForeignJson {
    let value = this.#value;
    for (const name of path)
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined;
    return new ForeignJson(value);
  }

  /** A text or number of at most `max` characters; longer ones are cut. */
  text(max = 2_000): string | null {
    if (typeof this.#value === 'number') return String(this.#value);
    // A cut may leave half of a surrogate pair, which cannot be stored.
    return typeof this.#value === 'string' && this.#value !== '' ? this.#value.slice(0, max).toWellFormed() : null;
  }

  integer(): number | null {
    return Number.isSafeInteger(this.#value) ? (this.#value as number) : null;
  }

  isTrue(): boolean {
    return this.#value === true;
  }

  /** ISO 8601, from a date's text or from seconds since the epoch. */
  moment(): string | null {
    const seconds = this.integer();
    const time = seconds === null ? Date.parse(this.text(64) ?? '') : seconds * 1_000;
    return Number.isNaN(time) || Math.abs(time) > LATEST_MS ? null : new Date(time).toISOString();
  }

  /** A link that a reader may follow. */
  link(): string | null {
    const text = this.text();
    return text !== null && /^https?:\/\//i.test(text) ? text : null;
  }

  items(max = 1_000): ForeignJson[] {
    return Array.isArray(this.#value) ? this.#value.slice(0, max).map((item) => new ForeignJson(item)) : [];
  }
}

/** The end of the year 9999: what a database and ISO 8601 with four digits can say. */
const LATEST_MS = 253_402_300_799_999;

const SHA = /^(?!0+$)[0-9a-f]{40,64}$/;

/** A whole commit id; the zeros that stand for no commit are none. */
export function shaOf(value: ForeignJson): string | null {
  const text = value.text(64)?.toLowerCase() ?? '';
  return SHA.test(text) ? text : null;
}

/** The branch of a whole name of a ref; null for a tag. */
export const branchOfRef = (ref: string | null): string | null => /^refs\/heads\/(.+)$/s.exec(ref ?? '')?.[1] ?? null;
