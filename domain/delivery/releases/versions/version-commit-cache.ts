import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import type { CommitGraph } from '../../../code/git/graph/commit-graph-rules.ts';
import { commitsOfMany, MANY_VERSIONS, type PackageVersion, versionCommits } from './package-versions.queries.ts';
import { versionCount, versionMoves, versionTagsDigest } from './version-commit-cache.queries.ts';

/** What is known of the commits of package versions at the time of a request. */
export interface VersionState {
  /** While it is the same, what was found of a version holds. */
  known: string;
  /** While it is the same, a version whose commit is not known is still not. Read when asked for, and once. */
  unknown: () => Promise<string>;
}

interface Cached {
  revision: string;
  tags: string;
  known: string;
  /** By name and version; a text: not known while `VersionState.unknown` is this. */
  commits: Map<string, Map<string, number | string>>;
}

/** By the graph of a history, with which it is forgotten. */
const cache = new WeakMap<CommitGraph, Cached>();

/** What is known of the commits of versions now. */
export async function versionState(reads: Reads, history: History): Promise<VersionState> {
  const { projectId, graph, revision, packages, freshness } = history;
  const before = cache.get(graph);
  const tags =
    before?.revision === revision
      ? before.tags
      : JSON.stringify([
          await versionTagsDigest(reads, projectId),
          [...packages].map(([name, { packageNo }]) => [name, packageNo]),
        ]);
  const known = `${await versionMoves(reads, projectId)} ${tags}`;
  const commits = before?.known === known ? before.commits : new Map<string, Map<string, number | string>>();
  cache.set(graph, { revision, tags, known, commits });
  let unknown: Promise<string> | undefined;
  return {
    known,
    unknown: () =>
      (unknown ??= versionCount(reads, projectId).then(
        (count) => `${revision} ${freshness.fetchedAt === null} ${count}`,
      )),
  };
}

/** Finds the commits of package versions as `versionCommits` does; only those are read that are not known already. */
export async function knownVersionCommits(
  reads: Reads,
  history: History,
  state: VersionState,
  versions: readonly PackageVersion[],
): Promise<(version: PackageVersion) => number | undefined> {
  const commits = cache.get(history.graph)?.commits ?? new Map<string, Map<string, number | string>>();
  const wanted = versions.filter(({ name, version }) => typeof commits.get(name)?.get(version) !== 'number');
  const unknown = wanted.length === 0 ? '' : await state.unknown();
  const missing = wanted.filter(({ name, version }) => commits.get(name)?.get(version) !== unknown);
  if (missing.length > 0) {
    const commitOf =
      missing.length < MANY_VERSIONS
        ? (await versionCommits(reads, history, missing)).of
        : await commitsOfMany(reads, history, missing);
    for (const each of missing) {
      let ofName = commits.get(each.name);
      if (!ofName) commits.set(each.name, (ofName = new Map()));
      ofName.set(each.version, commitOf(each) ?? unknown);
    }
  }
  return ({ name, version }) => {
    const commit = commits.get(name)?.get(version);
    return typeof commit === 'number' ? commit : undefined;
  };
}
