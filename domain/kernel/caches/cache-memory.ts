import { LRUCache } from 'lru-cache';

/** What was made before, by a key of all that it is made of. */
export interface BoundedCache<Value> {
  get: (key: string) => Value | undefined;
  put: (key: string, value: Value) => void;
}

/** Texts as they were answered. */
export type TextCache = BoundedCache<string>;

export interface CacheOptions<Value> {
  /** How much memory a value takes, with what it is kept by. */
  bytesOf: (value: Value, key: string) => number;
  /** After which a value is made anew although nothing it is made of has changed; never where it is absent. */
  ttlSeconds?: number;
}

/** Memory of a process that its caches share. */
export interface CacheMemory {
  /** A cache of its own. What was used least recently in any of them makes room. */
  cache: <Value extends object | string>(options: CacheOptions<Value>) => BoundedCache<Value>;
}

/** @param now milliseconds. */
export function createCacheMemory(maxBytes: number, now: () => number = () => performance.now()): CacheMemory {
  const kept = new LRUCache<string, object | string>({ maxSize: maxBytes, perf: { now }, ttlResolution: 0 });
  let caches = 0;
  return {
    cache<Value extends object | string>({ bytesOf, ttlSeconds = 0 }: CacheOptions<Value>): BoundedCache<Value> {
      const prefix = `${caches++} `;
      return {
        // Only this cache puts values under its prefix.
        get: (key) => kept.get(prefix + key) as Value | undefined,
        put: (key, value) => {
          kept.set(prefix + key, value, { size: Math.max(1, bytesOf(value, key)), ttl: ttlSeconds * 1_000 });
        },
      };
    },
  };
}

/**
 * Bytes of a text in UTF-8, as an estimate of its memory: V8 takes one byte for each character, or two where one of them is
 * beyond Latin-1.
 */
export const bytesOfText = (text: string): number => Buffer.byteLength(text);
