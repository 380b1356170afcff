/** What was made before, by a key of all that it is made of. */
export interface BoundedCache<Value> {
  get: (key: string) => Value | undefined;
  put: (key: string, value: Value) => void;
}

/** Texts as they were answered. */
export type TextCache = BoundedCache<string>;

/** Bounds the memory: an analysis of 20 candidates with 50 packages each has some hundred kilobytes, a dashboard more. */
const KEPT_BYTES = 64 * 1024 * 1024;

/**
 * @param ttlSeconds after which a value is made anew although nothing it is made of has changed.
 * @param bytesOf a value, as long as it is kept.
 */
export function createCache<Value>(
  ttlSeconds: number,
  bytesOf: (value: Value) => number,
  now: () => number = Date.now,
): BoundedCache<Value> {
  const kept = new Map<string, { value: Value; bytes: number; until: number }>();
  let bytes = 0;
  const remove = (key: string) => {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };
  return {
    get(key) {
      const found = kept.get(key);
      if (found && found.until > now()) return found.value;
      remove(key);
      return undefined;
    },
    put(key, value) {
      remove(key);
      const entry = { value, bytes: bytesOf(value), until: now() + ttlSeconds * 1_000 };
      kept.set(key, entry);
      bytes += entry.bytes;
      for (const oldest of kept.keys()) {
        if (bytes <= KEPT_BYTES) break;
        remove(oldest);
      }
    },
  };
}

export const createTextCache = (ttlSeconds: number, now?: () => number): TextCache =>
  createCache(ttlSeconds, (text) => text.length, now);
