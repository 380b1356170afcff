/**
 * How many rows at the top of a list are new: those before the first that was shown already. Where none of those shown is left,
 * it is another list, and nothing in it is new.
 */
export function newAtTop(keys: readonly string[], shown: ReadonlySet<string>): number {
  const first = keys.findIndex((key) => shown.has(key));
  return Math.max(0, first);
}
