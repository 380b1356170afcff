import { LRUCache } from 'lru-cache';
import { commitsBetween } from './attribution-rules.ts';
import type { History } from './graph/commit-graph-cache.ts';
import type { CommitMessages } from './commit-messages.ts';
import {
  CHANGES_MAX,
  type CountedChanges,
  type CountedUpTo,
  condensed,
  countedChanges,
} from './graph/counted-changes-rules.ts';

/** Up to `CHANGES_MAX` commits, of which some change a package and may count for a work item. */
export interface PackageChanges {
  packageName: string;
  commits: readonly number[];
  /** By bits in the order of `commits`: those that the changelog of the package from the beginning to a commit has, and that count there. */
  countedUpTo: CountedUpTo;
}

export interface ItemChanges {
  /** Numbers of the commits whose messages mention the work item. */
  naming: ReadonlySet<number>;
  changes: readonly PackageChanges[];
  /** Numbers of the pull requests of which changes are that count up to some commits, as changelogs give them. */
  pullRequestsUpTo: (ends: readonly number[]) => Set<number>;
}

interface Kept {
  /** Commits in the graph when it was made: commits may be added to the graph before the messages are replaced. */
  size: number;
  found: ItemChanges;
  bytes: number;
}

/** By work item. A new state of the repository has other messages. */
const cache = new WeakMap<CommitMessages, LRUCache<string, Kept>>();
/** About what an item takes without changes, and a kept commit with the list of its parents. */
const ITEM_BYTES = 4_096;
const COMMIT_BYTES = 64;
/** How much memory is kept for one history. */
const KEPT_BYTES = 4 * 1024 * 1024;

/** Finds the changes that count for a work item: those of commits that mention it, and of those that merges which mention it brought in. */
export function* workItemChanges(history: History, key: string): Generator<undefined, ItemChanges> {
  const items =
    cache.get(history.messages) ??
    new LRUCache<string, Kept>({ maxSize: KEPT_BYTES, sizeCalculation: ({ bytes }) => bytes });
  cache.set(history.messages, items);
  const { size } = history.graph;
  const before = items.get(key);
  const kept = before?.size === size ? before : { size, ...(yield* findChanges(history, key)) };
  items.set(key, kept);
  return kept.found;
}

function* findChanges(history: History, key: string): Generator<undefined, Omit<Kept, 'size'>> {
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
  const packageNumbers = [...packages.values()].map(({ packageNo }) => packageNo);
  const commits = [...candidates]
    .filter((commit) => packageNumbers.some((packageNo) => graph.differsFromAllParents(packageNo, commit)))
    .toSorted((a, b) => a - b);
  const kept = condensed(parentsOf, graph.size, new Set(commits));
  const shared = {
    condensed: kept,
    parentsOf,
    isBackMerge,
    isNaming: (commit: number) => naming.has(commit),
  };
  const changes: PackageChanges[] = [];
  const parts: { counted: CountedChanges; inPackages: CountedUpTo[] }[] = [];
  let bytes = ITEM_BYTES + 4 * graph.size + COMMIT_BYTES * kept.commits.length;
  for (let at = 0; at < commits.length; at += CHANGES_MAX) {
    const some = commits.slice(at, at + CHANGES_MAX);
    const counted = countedChanges(shared, some);
    const inPackages: CountedUpTo[] = [];
    bytes += counted.bytes.shared;
    for (const [packageName, { packageNo }] of packages) {
      const own = some.reduce(
        (bits, commit, place) => (graph.differsFromAllParents(packageNo, commit) ? bits | (1 << place) : bits),
        0,
      );
      if (own === 0) continue;
      const sameParentOf = (merge: number) => graph.sameParentOf(packageNo, merge);
      const countedUpTo = counted.inPackage({ own, sameParentOf });
      bytes += counted.bytes.perPackage;
      inPackages.push(countedUpTo);
      changes.push({ packageName, commits: some, countedUpTo });
      yield;
    }
    parts.push({ counted, inPackages });
    yield;
  }
  const pullRequestsUpTo = (ends: readonly number[]) => {
    const mentioning = new Set(parts.flatMap(({ counted, inPackages }) => [...counted.mergesUpTo(inPackages, ends)]));
    for (const { commits: some, countedUpTo } of changes) {
      const bits = ends.reduce((all, end) => all | countedUpTo(end), 0);
      for (const [place, commit] of some.entries()) if (((bits >>> place) & 1) === 1) mentioning.add(commit);
    }
    return new Set([...mentioning].flatMap((commit) => messages.mentionOf(commit)?.pullRequests ?? []));
  };
  return { found: { naming, changes, pullRequestsUpTo }, bytes };
}
