import { RE2JS } from 're2js';
import type { KeyFinder } from './work-item-rules.ts';

const PATTERN_MAX = 256;
const PROGRAM_MAX = 2_000;
/** Only the beginning of a longer message is searched. */
const MESSAGE_MAX = 64 * 1_024;
/** Instructions × characters for one message: some 0.6 s of a core at worst. What is behind is not searched. */
const WORK_MAX = 20_000_000;
const MATCHES_MAX = 1_000;

/**
 * Compiles a pattern in RE2's syntax, which matches in linear time. The key is the first group that matched, or the
 * whole match.
 */
export function compileKeyFinder(pattern: string): KeyFinder {
  if (pattern.length > PATTERN_MAX) throw new Error(`longer than ${PATTERN_MAX} characters`);
  const compiled = RE2JS.compile(pattern);
  const size = compiled.programSize();
  if (size > PROGRAM_MAX) throw new Error('too large when its repetitions are counted out');
  return (text) => {
    const searched = text.slice(0, Math.min(MESSAGE_MAX, Math.floor(WORK_MAX / size)));
    const matcher = compiled.matcher(searched);
    const keys: string[] = [];
    // Each match may have been looked for until the end.
    let [work, at] = [WORK_MAX, 0];
    while (keys.length < MATCHES_MAX && (work -= size * (searched.length - at)) >= 0 && matcher.find()) {
      at = matcher.end();
      const groups = Array.from({ length: matcher.groupCount() }, (_, index) => matcher.group(index + 1));
      keys.push((groups.find((group) => group !== null && group !== undefined) ?? matcher.group() ?? '').trim());
    }
    return keys;
  };
}

/** The finders of those patterns that compile. */
export const keyFinders = (patterns: readonly string[]): KeyFinder[] =>
  patterns.flatMap((pattern) => {
    try {
      return [compileKeyFinder(pattern)];
    } catch {
      return [];
    }
  });
