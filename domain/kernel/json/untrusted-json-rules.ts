/** A JSON value from outside, read member by member: what is missing, or of another type, is null. */
export class UntrustedJson {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  at(...path: (string | number)[]): UntrustedJson {
    let value = this.#value;
    for (const name of path)
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined;
    return new UntrustedJson(value);
  }

  /** A text or number, cut after `max` characters. */
  text(max = 2_000): string | null {
    if (typeof this.#value === 'number') return String(this.#value);
    if (typeof this.#value !== 'string' || this.#value === '') return null;
    // A cut may leave half of a surrogate pair, which cannot be stored, as U+0000 cannot.
    return this.#value.slice(0, max).toWellFormed().replaceAll('\0', '\ufffd');
  }

  integer(): number | null {
    return Number.isSafeInteger(this.#value) ? (this.#value as number) : null;
  }

  isTrue(): boolean {
    return this.#value === true;
  }

  isBoolean(): boolean {
    return typeof this.#value === 'boolean';
  }

  isList(): boolean {
    return Array.isArray(this.#value);
  }

  /** ISO 8601, from a date's text or from seconds since the epoch. */
  dateTime(): string | null {
    const seconds = this.integer();
    const time = seconds === null ? Date.parse(this.text(64) ?? '') : seconds * 1_000;
    return Number.isNaN(time) || Math.abs(time) > LATEST_MS ? null : new Date(time).toISOString();
  }

  /** A link that a reader may follow. */
  link(): string | null {
    const text = this.text();
    return text !== null && /^https?:\/\//i.test(text) ? text : null;
  }

  items(max = 1_000): UntrustedJson[] {
    return Array.isArray(this.#value) ? this.#value.slice(0, max).map((item) => new UntrustedJson(item)) : [];
  }
}

/** The end of the year 9999, the last that ISO 8601 writes with four digits. */
const LATEST_MS = 253_402_300_799_999;

const SHA = /^(?!0+$)[0-9a-f]{40,64}$/;

/** A full commit id; null for the zeros that stand for no commit. */
export function shaOf(value: UntrustedJson): string | null {
  const text = value.text(64)?.toLowerCase() ?? '';
  return SHA.test(text) ? text : null;
}

/** The branch of a full ref name; null for a tag. */
export const branchOfRef = (ref: string | null): string | null => /^refs\/heads\/(.+)$/s.exec(ref ?? '')?.[1] ?? null;
