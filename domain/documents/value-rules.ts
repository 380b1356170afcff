import { DomainError, invalidField } from '../shared/errors.ts';

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
  const extraBytes = walk(value, 0, place);
  const text = JSON.stringify(value);
  const sizeBytes = Buffer.byteLength(text) + extraBytes;
  if (sizeBytes > VALUE_MAX_BYTES)
    throw new DomainError('payload_too_large', `The value is larger than ${VALUE_MAX_BYTES} bytes`, {
      fields: [{ pointer: place, detail: 'too large' }],
    });
  return { text, sizeBytes };
}

/** By how much the numbers grow when their exponents are written out. */
function walk(value: unknown, depth: number, place: string): number {
  if (typeof value === 'number') return writtenOut(value);
  if (value === null || typeof value !== 'object') return 0;
  if (depth === VALUE_MAX_DEPTH) throw invalidField(place, `nested deeper than ${VALUE_MAX_DEPTH} levels`);
  let extra = 0;
  for (const member of Object.values(value)) extra += walk(member, depth + 1, place);
  return extra;
}

function writtenOut(value: number): number {
  const magnitude = Math.abs(value);
  if (magnitude === 0 || (magnitude >= 1e-6 && magnitude < 1e21)) return 0;
  return Math.ceil(Math.abs(Math.log10(magnitude)));
}
