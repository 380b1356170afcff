/** How much a JSON value may hold. */
export interface ValueLimits {
  /** Members of objects and elements of arrays, in all. */
  values: number;
  /** UTF-16 code units of all texts and names of members together. */
  characters: number;
}

/** Whether a JSON value holds more than its limits. It is read no further than to the first excess. */
export function isLargerThan(value: unknown, limits: ValueLimits): boolean {
  let { values, characters } = limits;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') characters -= next.length;
    else if (typeof next === 'object' && next !== null) {
      const isList = Array.isArray(next);
      for (const name of Object.keys(next)) {
        if (--values < 0) return true;
        if (!isList) characters -= name.length;
        open.push((next as Record<string, unknown>)[name]);
      }
    }
    if (characters < 0) return true;
  }
  return false;
}
