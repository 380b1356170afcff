import { DomainError, invalidField } from '../kernel/shared/errors.ts';

/** Size of a value as compact JSON in UTF-8. */
export const VALUE_MAX_BYTES = 1024 * 1024;
export const VALUE_MAX_DEPTH = 100;

export interface ValueText {
  text: string;
  sizeBytes: number;
}

/**
 * A value as text with its size. Throws `invalid_request` when it is nested too deeply and `payload_too_large` when it
 * is too large. Numbers count with the length that the database writes, without an exponent.
 * @param place of the value in the request.
 */
export function valueText(value: unknown, place: string): ValueText {
  const size: WalkedSize = { leastBytes: 0, extraBytes: 0 };
  walk(value, 0, place, size);
  const text = JSON.stringify(value);
  const sizeBytes = Buffer.byteLength(text) + size.extraBytes;
  if (sizeBytes > VALUE_MAX_BYTES) throw tooLarge(place);
  return { text, sizeBytes };
}

const tooLarge = (place: string): DomainError =>
  new DomainError('payload_too_large', `The value is larger than ${VALUE_MAX_BYTES} bytes`, {
    fields: [{ pointer: place, detail: 'too large' }],
  });

interface WalkedSize {
  /** What has been walked takes no fewer bytes as JSON. */
  leastBytes: number;
  /** By how much the numbers grow when their exponents are written out. */
  extraBytes: number;
}

/** Ends at the first excess, so that a value that is much too large costs no more than one that is just so. */
function walk(value: unknown, depth: number, place: string, size: WalkedSize): void {
  size.leastBytes += typeof value === 'string' ? value.length + 2 : 1;
  if (size.leastBytes > VALUE_MAX_BYTES) throw tooLarge(place);
  if (typeof value === 'number') size.extraBytes += writtenOut(value);
  if (value === null || typeof value !== 'object') return;
  if (depth === VALUE_MAX_DEPTH) throw invalidField(place, `nested deeper than ${VALUE_MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    for (const element of value) walk(element, depth + 1, place, size);
    return;
  }
  for (const name of Object.keys(value)) {
    size.leastBytes += name.length + 3;
    walk((value as Record<string, unknown>)[name], depth + 1, place, size);
  }
}

function writtenOut(value: number): number {
  const magnitude = Math.abs(value);
  if (magnitude === 0 || (magnitude >= 1e-6 && magnitude < 1e21)) return 0;
  return Math.ceil(Math.abs(Math.log10(magnitude)));
}
