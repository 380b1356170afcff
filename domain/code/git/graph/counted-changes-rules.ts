import type { AttributedHistory } from '../attribution-rules.ts';

/**
 * A history without the commits that have one parent and that nobody asked to keep: what holds for the kept commit
 * before such a one holds for it, too. Kept commits are places in `commits`, parents before their children.
 */
export interface CondensedHistory {
  commits: readonly number[];
  /** For each kept commit its parents, or the kept commits before them, as indexes in `commits`; -1 where there is none. */
  parents: readonly (readonly number[])[];
  /** The place of a commit, or of the kept one before it. */
  placeOf: (commit: number) => number;
}

/** @param kept commits to keep beside merges and those without a parent. */
export function condensed(
  parentsOf: AttributedHistory['parentsOf'],
  size: number,
  kept: ReadonlySet<number>,
): CondensedHistory {
  const places = new Int32Array(size).fill(-1);
  const commits: number[] = [];
  const parents: number[][] = [];
  for (let commit = 0; commit < size; commit++) {
    const own = parentsOf(commit);
    if (own.length === 1 && !kept.has(commit)) {
      places[commit] = places[own[0] ?? -1] ?? -1;
      continue;
    }
    places[commit] = commits.length;
    commits.push(commit);
    parents.push(own.map((parent) => places[parent] ?? -1));
  }
  return { commits, parents, placeOf: (commit) => places[commit] ?? -1 };
}

/** What is read of a history to find where changes count for one work item. */
export interface CountingHistory extends Pick<AttributedHistory, 'parentsOf' | 'isBackMerge'> {
  condensed: CondensedHistory;
  /** Whether a commit's own message mentions the work item. */
  isNaming: (commit: number) => boolean;
}

/** How many changes are looked at together: one bit each. */
export const CHANGES_MAX = 32;

/** How many bits are set. */
export function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** What a package changes. */
export interface ChangedPackage {
  /** Which of the changes differ in the package from all their parents, as bits. */
  own: number;
  /** The place among its parents of the first one that a merge equals in the package, the only one that git follows; -1: none. */
  sameParentOf: (merge: number) => number;
}

/** Which changes of one package count for the work item in what a commit contains, as bits. */
export type CountedUpTo = (end: number) => number;

/** Some changes, by bits in their order. */
export interface CountedChanges {
  inPackage: (changed: ChangedPackage) => CountedUpTo;
  /** The merges that brought in any of those that count in what some commits contain. */
  mergesUpTo: (packages: readonly CountedUpTo[], ends: readonly number[]) => Set<number>;
  /** Memory of this, and as much again for each package. */
  bytes: { shared: number; perPackage: number };
}

/**
 * Finds up to which commits changes count for a work item: where the changelog from the beginning to that commit lists
 * them, and `attribute` finds that they or a merge that brought them in mention it. There, a merge brings in what its
 * first parent does not have, so what holds for a commit holds for those whose line of first parents it is on, and all
 * kept commits are gone through once. Only what a changelog lists depends on the package.
 *
 * @param changes commits that are kept, oldest first, at most `CHANGES_MAX`.
 */
export function countedChanges(history: CountingHistory, changes: readonly number[]): CountedChanges {
  const { condensed: kept, parentsOf, isBackMerge } = history;
  const { commits, parents, placeOf } = kept;
  const first = changes[0] === undefined ? commits.length : placeOf(changes[0]);
  const zeros = () => new Int32Array(commits.length - first);
  const at = (bits: Int32Array, place: number): number => bitsAt(bits, place - first);
  const { contained, counting, closed } = spreadChanges(history, changes, first);

  return {
    inPackage({ own, sameParentOf }) {
      const listed = zeros();
      const listedOf = (merge: number, lines: readonly number[]): number => {
        const bits = at(listed, lines[0] ?? -1);
        if (lines.every((line) => at(listed, line) === bits)) return bits;
        const same = sameParentOf(merge);
        return same < 0 ? lines.reduce((all, line) => all | at(listed, line), 0) : at(listed, lines[same] ?? -1);
      };
      let change = 0;
      for (let place = first; place < commits.length; place++) {
        const commit = commits[place] ?? -1;
        const lines = parents[place] ?? [];
        let lists = lines.length > 1 ? listedOf(commit, lines) : at(listed, lines[0] ?? -1);
        if (changes[change] === commit) lists |= own & (1 << change++);
        if (lists !== 0) listed[place - first] = lists;
      }
      return (end) => {
        const place = placeOf(end);
        return at(counting, place) & at(listed, place);
      };
    },
    mergesUpTo(packages, ends) {
      const merges = new Set<number>();
      const wanted = zeros();
      for (const end of ends) {
        const place = placeOf(end);
        if (place >= first)
          for (const countedUpTo of packages) wanted[place - first] = at(wanted, place) | countedUpTo(end);
      }
      for (let place = commits.length - 1; place >= first; place--) {
        let bits = wanted[place - first] ?? 0;
        if (bits === 0) continue;
        const commit = commits[place] ?? -1;
        for (const [index, line] of (parents[place] ?? []).entries()) {
          const brought = bits & at(contained, line);
          if (brought === 0) continue;
          bits &= ~brought;
          wanted[line - first] = (wanted[line - first] ?? 0) | brought;
          const isFurther = index > 0 && (brought & ~at(closed, line)) !== 0;
          if (isFurther && !isBackMerge(commit, parentsOf(commit)[index] ?? -1)) merges.add(commit);
        }
      }
      return merges;
    },
    bytes: { shared: 3 * contained.byteLength, perPackage: contained.byteLength },
  };
}

/** Commits before the first of the changes have none of them. */
const bitsAt = (bits: Int32Array, at: number): number => (at < 0 ? 0 : (bits[at] ?? 0));

/** For each kept commit from the first change on: changes that it contains; those that count if they are listed; those for which merges further out do not count. */
function spreadChanges(
  { condensed: { commits, parents }, parentsOf, isBackMerge, isNaming }: CountingHistory,
  changes: readonly number[],
  first: number,
) {
  const zeros = () => new Int32Array(commits.length - first);
  const at = (bits: Int32Array, place: number): number => bitsAt(bits, place - first);
  const [contained, counting, closed] = [zeros(), zeros(), zeros()];

  let next = 0;
  for (let place = first; place < commits.length; place++) {
    const commit = commits[place] ?? -1;
    const lines = parents[place] ?? [];
    const line = lines[0] ?? -1;
    let [has, counts, stops] = [at(contained, line), at(counting, line), at(closed, line)];
    for (let index = 1; index < lines.length; index++) {
      const other = lines[index] ?? -1;
      const brought = at(contained, other) & ~has;
      if (brought === 0) continue;
      const isBack = isBackMerge(commit, parentsOf(commit)[index] ?? -1);
      counts |= at(counting, other) & brought;
      stops |= (isBack ? -1 : at(closed, other)) & brought;
      if (!isBack && isNaming(commit)) counts |= brought & ~at(closed, other);
      has |= brought;
    }
    if (changes[next] === commit) {
      const bit = 1 << next++;
      has |= bit;
      if (isNaming(commit)) counts |= bit;
    }
    if (has === 0) continue;
    contained[place - first] = has;
    counting[place - first] = counts;
    closed[place - first] = stops;
  }
  return { contained, counting, closed };
}
