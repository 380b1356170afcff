import { isArrayIndex } from '../kernel/json/json-path-rules.ts';

/** Paths as a tree: each member's own paths; null where a path ends and everything below is wanted. */
interface Wanted extends Map<string, Wanted | null> {}

export type Projection = (value: unknown) => unknown;

/**
 * Keeps only those parts of a value that the paths name, nested as they were. Of an array the named elements are kept
 * in their order.
 */
export function projection(paths: readonly (readonly string[])[]): Projection {
  const wanted: Wanted = new Map();
  for (const path of paths) want(wanted, path);
  return (value) => pick(value, wanted) ?? {};
}

function want(tree: Wanted, path: readonly string[]): void {
  let current = tree;
  for (const [index, segment] of path.entries()) {
    const below = current.get(segment);
    if (below === null) return;
    if (index === path.length - 1) current.set(segment, null);
    else {
      const next: Wanted = below ?? new Map();
      current.set(segment, next);
      current = next;
    }
  }
}

/** Undefined when nothing that is wanted is there. */
function pick(value: unknown, wanted: Wanted): unknown {
  if (value === null || typeof value !== 'object') return undefined;
  const picked: [string, unknown][] = [];
  for (const [segment, below] of wanted) {
    if (
      Array.isArray(value) ? !isArrayIndex(segment) || Number(segment) >= value.length : !Object.hasOwn(value, segment)
    )
      continue;
    const member = (value as Record<string, unknown>)[segment];
    const kept = below === null ? member : pick(member, below);
    if (kept !== undefined) picked.push([segment, kept]);
  }
  if (picked.length === 0) return undefined;
  if (!Array.isArray(value)) return Object.fromEntries(picked);
  return picked.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, member]) => member);
}
