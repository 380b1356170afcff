/** A look-up that found nothing, told apart from one that found null. */
export const MISSING = Symbol('missing');

/**
 * Segments of a path: dots separate, `\.` is a dot of the name and `\\` a backslash. Undefined for a malformed path:
 * an empty segment or a lone backslash.
 */
export function parsePath(path: string): string[] | undefined {
  const segments: string[] = [];
  let segment = '';
  for (let at = 0; at < path.length; at++) {
    const char = path.charAt(at);
    if (char === '.') {
      segments.push(segment);
      segment = '';
    } else if (char === '\\') {
      const escaped = path.charAt(++at);
      if (escaped !== '.' && escaped !== '\\') return undefined;
      segment += escaped;
    } else segment += char;
  }
  segments.push(segment);
  return segments.includes('') ? undefined : segments;
}

/** Whether a segment, as it is written, is an index of an array: `0`, `17`, but not `-1` or `01`. */
export const isArrayIndex = (segment: string): boolean => /^(0|[1-9]\d{0,8})$/.test(segment);

/** Follows segments through objects' own members and arrays' indices; strings have neither. */
export function lookUp(value: unknown, segments: readonly string[]): unknown {
  let current = value;
  for (const segment of segments) {
    if (current === null || typeof current !== 'object') return MISSING;
    if (Array.isArray(current)) {
      if (!isArrayIndex(segment) || Number(segment) >= current.length) return MISSING;
    } else if (!Object.hasOwn(current, segment)) return MISSING;
    current = (current as Record<string, unknown>)[segment];
  }
  return current;
}
