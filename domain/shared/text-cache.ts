/** Texts as they were answered, by a key of all that they are made of. */
export interface TextCache {
  get: (key: string) => string | undefined;
  put: (key: string, text: string) => void;
}

/** Bounds the memory: an analysis of 20 candidates with 50 packages each has some hundred kilobytes, a dashboard more. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** @param ttlSeconds after which a text is made anew although nothing it is made of has changed. */
export function createTextCache(ttlSeconds: number, now: () => number = Date.now): TextCache {
  const kept = new Map<string, { text: string; until: number }>();
  let bytes = 0;
  const remove = (key: string) => {
    bytes -= kept.get(key)?.text.length ?? 0;
    kept.delete(key);
  };
  return {
    get(key) {
      const found = kept.get(key);
      if (found && found.until > now()) return found.text;
      remove(key);
      return undefined;
    },
    put(key, text) {
      remove(key);
      kept.set(key, { text, until: now() + ttlSeconds * 1_000 });
      bytes += text.length;
      for (const oldest of kept.keys()) {
        if (bytes <= KEPT_BYTES) break;
        remove(oldest);
      }
    },
  };
}
