import { invalidField } from '../kernel/shared/errors.ts';

/** A longer one would not fit into a header; the next page is then found by its offset. */
const CURSOR_MAX = 4_000;

interface Place {
  values: readonly (string | number)[];
  collection: string;
  key: string;
}

/** A position in a result as text for a client; undefined when it is too long. @param order what the result is sorted by. */
export function encodeCursor(order: unknown, { values, collection, key }: Place): string | undefined {
  const cursor = Buffer.from(JSON.stringify([order, values, collection, key])).toString('base64url');
  return cursor.length <= CURSOR_MAX ? cursor : undefined;
}

/** Throws `invalid_request` for a cursor that is malformed or belongs to another order. @param pointer of the cursor in the request. */
export function decodeCursor(order: unknown, cursor: string, pointer: string): Place {
  const [of, values, collection, key] = parse(cursor);
  const isPlace =
    Array.isArray(values) && values.every((value) => typeof value === 'string' || Number.isInteger(value));
  if (!isPlace || typeof collection !== 'string' || typeof key !== 'string')
    throw invalidField(pointer, 'not a cursor of this service');
  if (JSON.stringify(of) !== JSON.stringify(order)) throw invalidField(pointer, 'a cursor of another sort');
  return { values: values as Place['values'], collection, key };
}

function parse(cursor: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}
