import { commitsBetween } from './attribution-rules.ts';
import type { History } from './commit-graph-cache.ts';
import { CHANGES_MAX, condensed, type CountedChanges, countedChanges } from './counted-changes-rules.ts';

/** A commit that changes a package and may count for a work item. */
export interface ItemChange {
  packageName: string;
  commit: number;
  /** Whether the changelog of the package from the beginning to a commit has it, and there it counts for the work item. */
  isCountedUpTo: (end: number) => boolean;
}

export interface ItemChanges {
  /** Numbers of the commits whose messages mention the work item. */
  naming: ReadonlySet<number>;
  changes: readonly ItemChange[];
  /** Numbers of the pull requests of which changes are that count up to some commits, as changelogs give them. */
  pullRequestsUpTo: (ends: readonly number[]) => Set<number>;
}

/** Finds the changes that count for a work item: those of commits that mention it, and of those that merges which mention it brought in. */
export function* workItemChanges(history: History, key: string): Generator<undefined, ItemChanges> {
  const { graph, messages, packages } = history;
  const parentsOf = (commit: number) => graph.parentsOf(commit);
  const isBackMerge = (merge: number, parent: number) => messages.isBackMerge(merge, parent);
  const naming = new Set(messages.commitsNaming(key).filter((commit) => graph.known(commit) !== undefined));
  const candidates = new Set(naming);
  for (const commit of naming) {
    const [line = null, ...others] = parentsOf(commit);
    if (others.every((parent) => isBackMerge(commit, parent))) continue;
    for (const brought of commitsBetween({ parentsOf }, line, commit)) candidates.add(brought);
    yield;
  }
  const commits = [...candidates].toSorted((a, b) => a - b);
  const shared = {
    condensed: condensed(parentsOf, graph.size, candidates),
    parentsOf,
    isBackMerge,
    isNaming: (commit: number) => naming.has(commit),
  };
  const changes: ItemChange[] = [];
  const parts: CountedChanges[] = [];
  for (const [packageName, { packageNo }] of packages) {
    const own = commits.filter((commit) => graph.differsFromAllParents(packageNo, commit));
    const sameParentOf = (merge: number) => graph.sameParentOf(packageNo, merge);
    for (let at = 0; at < own.length; at += CHANGES_MAX) {
      const some = own.slice(at, at + CHANGES_MAX);
      const part = countedChanges({ ...shared, sameParentOf }, some);
      parts.push(part);
      for (const [place, commit] of some.entries())
        changes.push({ packageName, commit, isCountedUpTo: (end) => ((part.upTo(end) >>> place) & 1) === 1 });
      yield;
    }
  }
  return {
    naming,
    changes,
    pullRequestsUpTo(ends) {
      const merges = new Set(parts.flatMap((part) => [...part.mergesUpTo(ends)]));
      const counted = changes.filter(({ isCountedUpTo }) => ends.some(isCountedUpTo));
      const mentioning = [...merges, ...counted.map(({ commit }) => commit)];
      return new Set(mentioning.flatMap((commit) => messages.mentionOf(commit)?.pullRequests ?? []));
    },
  };
}
