import { matchesPattern } from './pattern-rules.ts';

/** A name, or a pattern of names: `*` within a segment, `**` across slashes, every other character literal. */
export type Glob =
  | { kind: 'literal'; name: string }
  | { kind: 'any' }
  | { kind: 'regex'; source: string; prefix: string };

/** What a path pattern means: all documents of some collections, and documents of some keys in other collections. */
export interface PathPattern {
  whole: Glob;
  /** With the pattern's last segment as a key; absent when it has one segment, or when `whole` covers it. */
  byKey?: { collection: Glob; key: Glob };
}

/** Reads a path pattern. */
export function parsePathPattern(pattern: string): PathPattern {
  const whole = parseGlob(pattern);
  const slash = pattern.lastIndexOf('/');
  if (slash === -1) return { whole };
  const collection = parseGlob(pattern.slice(0, slash));
  if (collection.kind === 'literal' && matchesPattern(pattern, collection.name)) return { whole };
  return { whole, byKey: { collection, key: parseGlob(pattern.slice(slash + 1)) } };
}

export function parseGlob(pattern: string): Glob {
  if (pattern === '**') return { kind: 'any' };
  if (!pattern.includes('*')) return { kind: 'literal', name: pattern };
  return { kind: 'regex', source: globSource(pattern), prefix: pattern.slice(0, pattern.indexOf('*')) };
}

/** A pattern as a regular expression of PostgreSQL. */
export const globSource = (pattern: string): string =>
  `^${pattern.replaceAll(/\*\*|\*|[.^$+?()[\]{}|\\]/g, (token) => {
    if (token === '**') return '.*';
    return token === '*' ? '[^/]*' : `\\${token}`;
  })}$`;
