import { LRUCache } from 'lru-cache';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { type Attribution, attribute, RELEASE_LINES } from '../attribution-rules.ts';
import { CommitMessages } from '../commit-messages.ts';
import { graphChanges, graphCommits, graphMessages } from './commit-graph.queries.ts';
import { CommitGraph } from './commit-graph-rules.ts';
import { type MirrorFreshness, mirrorState, NEVER_FETCHED } from '../mirror/mirror.queries.ts';
import { currentPackages } from '../packages.queries.ts';
import { tipsOfBranches } from '../mirror/refs.queries.ts';
import { createRangeCache, type RangeCache } from './range-cache.ts';

/** The history of a project's repository as it is known now. */
export interface History {
  projectId: string;
  graph: CommitGraph;
  /** By name. */
  packages: ReadonlyMap<string, { packageNo: number; path: string; dependencies: string[] }>;
  /** What messages mention, and which merges they are of. */
  messages: CommitMessages;
  /** Changes whenever the facts do. */
  revision: string;
  /** Changes when the work items of commits that were known before do. */
  workItemsEpoch: number;
  /** What was computed of ranges; see `rangeFacts`. */
  ranges: RangeCache;
  freshness: MirrorFreshness;
  hasRemote: boolean;
  /** A fetch is requested or under way. */
  isFetching: boolean;
  /** When the last fetch began. */
  lastTriedAt: string | null;
}

/** The history of a project. It is cache in memory, and only what is new is read. */
export type CommitGraphCache = (reads: Reads, projectId: string) => Promise<History>;

/** How many histories a process keeps: the most recently used. */
const HISTORIES_MAX = 64;

const emptyHistory = (projectId: string): History => ({
  projectId,
  graph: new CommitGraph(),
  packages: new Map(),
  messages: new CommitMessages(null),
  revision: '',
  workItemsEpoch: 0,
  ranges: createRangeCache(),
  freshness: NEVER_FETCHED,
  hasRemote: false,
  isFetching: false,
  lastTriedAt: null,
});

interface CachedHistory {
  history: History;
  /** Settled when nothing is being added to the graph, so that one caller adds at a time. */
  growing: Promise<void>;
}

/** An empty cache. */
export function createCommitGraphCache(): CommitGraphCache {
  const cache = new LRUCache<string, CachedHistory>({ max: HISTORIES_MAX });

  const entryOf = (projectId: string): CachedHistory => {
    const known = cache.get(projectId) ?? {
      history: emptyHistory(projectId),
      growing: Promise.resolve(),
    };
    cache.set(projectId, known);
    return known;
  };

  return async (reads, projectId) => {
    const state = await mirrorState(reads, projectId);
    if (!state) return emptyHistory(projectId);
    const { revision, workItemsEpoch, attributedBranch, hasRemote, isFetching, lastTriedAt, ...freshness } = state;
    const mirror = { freshness, hasRemote, isFetching, lastTriedAt };
    if (revision === null || workItemsEpoch === null) return { ...emptyHistory(projectId), ...mirror };
    const entry = entryOf(projectId);
    if (entry.history.revision !== revision) {
      entry.growing = growAfter(entry.growing, reads, entry, { revision, workItemsEpoch, attributedBranch });
      await entry.growing;
    }
    return { ...entry.history, ...mirror };
  };
}

/** The state of the mirror to which a history grows. */
interface Stamp extends Pick<History, 'revision' | 'workItemsEpoch'> {
  attributedBranch: string | null;
}

async function growAfter(others: Promise<void>, reads: Reads, entry: CachedHistory, stamp: Stamp): Promise<void> {
  await others.catch(() => undefined);
  if (entry.history.revision !== stamp.revision) entry.history = await grow(reads, entry.history, stamp);
}

/** Commits first, and the changes of these alone: what is imported between the statements is read the next time. */
async function grow(
  reads: Reads,
  history: History,
  { attributedBranch: defaultBranch, ...stamp }: Stamp,
): Promise<History> {
  const { projectId, graph } = history;
  const from = graph.size;
  const packages = await currentPackages(reads, projectId);
  const commits = await graphCommits(reads, projectId, from);
  const to = from + commits.length;
  const changes = await graphChanges(reads, projectId, { from, to, knownPackages: graph.packageNumbers });
  const isSameEpoch = stamp.workItemsEpoch === history.workItemsEpoch && history.revision !== '';
  const messages = isSameEpoch ? history.messages : new CommitMessages(defaultBranch);
  const added = await graphMessages(reads, projectId, { from: isSameEpoch ? from : 0, to });
  const branches = defaultBranch === null ? [] : [defaultBranch, ...RELEASE_LINES];
  const tips = [...(await tipsOfBranches(reads, projectId, branches))].filter(([, tip]) => tip < to);
  for (const { parents, date } of commits) graph.addCommit(parents, date);
  messages.add(added);
  for (const { packageNo, changes: text } of changes) {
    for (const change of text.split(',')) {
      const [commit = '', bits = '0'] = change.split(':');
      graph.addChange(packageNo, Number(commit), BigInt(bits));
    }
  }
  for (const { packageNo } of packages) graph.addPackage(packageNo);
  return {
    ...history,
    ...stamp,
    messages: messages.withBranches(graph, new Map(tips)),
    ranges: isSameEpoch ? history.ranges : createRangeCache(),
    packages: new Map(
      packages.map(({ name, packageNo, path, dependencies }) => [name, { packageNo, path, dependencies }]),
    ),
  };
}

/** What the commits of a range count for. */
export const attributionOf = ({ graph, messages }: History, from: number | null, to: number): Attribution =>
  attribute(
    {
      parentsOf: (commit) => graph.parentsOf(commit),
      mentionOf: (commit) => messages.mentionOf(commit),
      isBackMerge: (merge, parent) => messages.isBackMerge(merge, parent),
    },
    from,
    to,
  );
