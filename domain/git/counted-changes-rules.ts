import type { AttributedHistory } from './attribution-rules.ts';

/** What is read of a history to find where changes of one package count for one work item. */
export interface CountingHistory extends Pick<AttributedHistory, 'parentsOf' | 'isBackMerge'> {
  /** How many commits there are. */
  size: number;
  /** Whether a commit's own message mentions the work item. */
  isNaming: (commit: number) => boolean;
  /** The first parent that a merge equals in the package, the only one that git follows; undefined: it differs from all. */
  sameParentOf: (merge: number) => number | undefined;
}

/** How many changes are looked at together: one bit each. */
export const CHANGES_MAX = 32;

/** Changes of one package, by bits in their order. */
export interface CountedChanges {
  /** Those that count for the work item in what a commit contains. */
  upTo: (end: number) => number;
  /** The merges that brought in any of those that count in what some commits contain. */
  mergesUpTo: (ends: readonly number[]) => Set<number>;
}

/**
 * Finds up to which commits changes count for a work item: where the changelog from the beginning to that commit lists
 * them, and `attribute` finds that they or a merge that brought them in mention it. There, a merge brings in what its
 * first parent does not have, so what holds for a commit holds for those whose line of first parents it is on, and all
 * commits are gone through once.
 *
 * @param changes commits that differ from all their parents in the package, oldest first, at most `CHANGES_MAX`.
 */
export function countedChanges(history: CountingHistory, changes: readonly number[]): CountedChanges {
  const { size, parentsOf, isBackMerge, isNaming, sameParentOf } = history;
  const first = changes[0] ?? size;
  const zeros = () => new Int32Array(size - first);
  const at = (bits: Int32Array, commit: number): number => (commit < first ? 0 : (bits[commit - first] ?? 0));
  /** Changes that a commit contains; those that count; those for which merges further out do not count; those listed. */
  const [contained, counting, closed, listed] = [zeros(), zeros(), zeros(), zeros()];

  const listedOf = (merge: number, parents: readonly number[]): number => {
    const own = at(listed, parents[0] ?? -1);
    if (parents.every((parent) => at(listed, parent) === own)) return own;
    const same = sameParentOf(merge);
    return same === undefined ? parents.reduce((bits, parent) => bits | at(listed, parent), 0) : at(listed, same);
  };

  let place = 0;
  for (let commit = first; commit < size; commit++) {
    const parents = parentsOf(commit);
    const line = parents[0] ?? -1;
    let [has, counts, stops] = [at(contained, line), at(counting, line), at(closed, line)];
    for (let index = 1; index < parents.length; index++) {
      const parent = parents[index] ?? -1;
      const brought = at(contained, parent) & ~has;
      if (brought === 0) continue;
      const isBack = isBackMerge(commit, parent);
      counts |= at(counting, parent) & brought;
      stops |= (isBack ? -1 : at(closed, parent)) & brought;
      if (!isBack && isNaming(commit)) counts |= brought & ~at(closed, parent);
      has |= brought;
    }
    let lists = parents.length > 1 ? listedOf(commit, parents) : at(listed, line);
    if (changes[place] === commit) {
      const bit = 1 << place++;
      has |= bit;
      lists |= bit;
      if (isNaming(commit)) counts |= bit;
    }
    if (has === 0) continue;
    contained[commit - first] = has;
    counting[commit - first] = counts;
    closed[commit - first] = stops;
    listed[commit - first] = lists;
  }

  const upTo = (end: number) => at(counting, end) & at(listed, end);
  return {
    upTo,
    mergesUpTo(ends) {
      const merges = new Set<number>();
      const wanted = zeros();
      for (const end of ends) if (end >= first && end < size) wanted[end - first] = upTo(end);
      for (let commit = size - 1; commit >= first; commit--) {
        let bits = wanted[commit - first] ?? 0;
        if (bits === 0) continue;
        for (const [index, parent] of parentsOf(commit).entries()) {
          const brought = bits & at(contained, parent);
          if (brought === 0) continue;
          bits &= ~brought;
          wanted[parent - first] = (wanted[parent - first] ?? 0) | brought;
          if (index > 0 && (brought & ~at(closed, parent)) !== 0 && !isBackMerge(commit, parent)) merges.add(commit);
        }
      }
      return merges;
    },
  };
}
