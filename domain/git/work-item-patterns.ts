import { RE2JS } from 're2js';
import type { KeyFinder } from './work-item-rules.ts';

const PATTERN_MAX = 256;
const PROGRAM_MAX = 2_000;
/** Only the beginning of a longer message is searched. */
const MESSAGE_MAX = 64 * 1_024;
const MATCHES_MAX = 1_000;

/**
 * Compiles a pattern in RE2's syntax, which matches in linear time. The key is the first group that matched, or the
 * whole match.
 */
export function compileKeyFinder(pattern: string): KeyFinder {
  if (pattern.length > PATTERN_MAX) throw new Error(`longer than ${PATTERN_MAX} characters`);
  const compiled = RE2JS.compile(pattern);
  if (compiled.programSize() > PROGRAM_MAX) throw new Error('too large when its repetitions are counted out');
  return (text) => {
    const matcher = compiled.matcher(text.slice(0, MESSAGE_MAX));
    const keys: string[] = [];
    while (keys.length < MATCHES_MAX && matcher.find()) {
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
