/** Values by key: those added last. */
export interface NewestCache<Value> {
  get: (key: string) => Value | undefined;
  set: (key: string, value: Value) => void;
}

/** A cache that keeps so many values, and drops the one that was added first. */
export function createNewestCache<Value>(valuesMax: number): NewestCache<Value> {
  const cached = new Map<string, Value>();
  return {
    get: (key) => cached.get(key),
    set(key, value) {
      cached.set(key, value);
      const [oldest] = cached.keys();
      if (cached.size > valuesMax && oldest !== undefined) cached.delete(oldest);
    },
  };
}
