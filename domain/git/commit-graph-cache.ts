import type { ActorReads } from '../data/fenced-reads.ts';
import { CommitGraph } from './commit-graph-rules.ts';
import { NEVER_FETCHED, type MirrorFreshness } from './mirror.queries.ts';
import { createRangeMemory, type RangeMemory } from './range-memory.ts';

/** The history of a project's repository as it is known now. */
export interface History {
  projectId: string;
  graph: CommitGraph;
  /** By name. */
  packages: ReadonlyMap<string, { packageNo: number; path: string }>;
  /** Changes whenever the facts do. */
  revision: string;
  /** Changes when the work items of commits that were known before do. */
  workItemsEpoch: number;
  /** What was computed of ranges; see `rangeFacts`. */
  ranges: RangeMemory;
  freshness: MirrorFreshness;
}

/** Gives the history of a project; it is kept in memory, and only what is new is read. */
export type CommitGraphCache = (reads: Pick<ActorReads, 'sql' | 'tenantId'>, projectId: string) => Promise<History>;

/** How many commit graphs a process keeps: those asked for last. */
const KEPT = 64;

const emptyHistory = (projectId: string): History => ({
  projectId,
  graph: new CommitGraph(),
  packages: new Map(),
  revision: '',
  workItemsEpoch: 0,
  ranges: createRangeMemory(),
  freshness: NEVER_FETCHED,
});

interface Kept {
  history: History;
  /** Growing a graph is not to be done twice at the same time. */
  growing: Promise<void>;
}

const STATE = `
  select revision::text as revision, work_items_epoch as "workItemsEpoch", fetched_at as "fetchedAt", fetched_at is null or error is not null as "isStale", error
  from git_mirror where tenant_id = ? and project_id = ?`;
const PACKAGES = `
  select package_no as "packageNo", name, path from git_package where tenant_id = ? and project_id = ? and is_current`;
// One text per kind of fact: a row for each would cost several times as much.
const COMMITS = `
  select string_agg(array_to_string(parents, ' ') || ':' || extract(epoch from committed_at)::bigint, ',' order by seq) as commits
  from git_commit where tenant_id = ? and project_id = ? and seq >= ?`;
const CHANGES = `
  select package_no as "packageNo", string_agg(seq || ':' || parent_bits, ',' order by seq) as changes
  from git_commit_package where tenant_id = ? and project_id = ? and seq < ?
    and (seq >= ? or not package_no in (select jsonb_array_elements_text(?::jsonb)::int))
  group by package_no`;

export function createCommitGraphCache(): CommitGraphCache {
  const kept = new Map<string, Kept>();

  const keptOf = (projectId: string): Kept => {
    const known = kept.get(projectId) ?? {
      history: emptyHistory(projectId),
      growing: Promise.resolve(),
    };
    kept.delete(projectId);
    kept.set(projectId, known);
    const [oldest] = kept.keys();
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
    return known;
  };

  return async (reads, projectId) => {
    const { sql, tenantId } = reads;
    const [state] = await sql<MirrorFreshness & Pick<History, 'revision' | 'workItemsEpoch'>>(STATE, [
      tenantId,
      projectId,
    ]);
    if (!state) return emptyHistory(projectId);
    const entry = keptOf(projectId);
    const { revision, workItemsEpoch, ...freshness } = state;
    if (entry.history.revision !== revision) {
      entry.growing = growAfter(entry.growing, reads, entry, { revision, workItemsEpoch });
      await entry.growing;
    }
    return { ...entry.history, freshness };
  };
}

type Stamp = Pick<History, 'revision' | 'workItemsEpoch'>;

async function growAfter(
  others: Promise<void>,
  reads: Pick<ActorReads, 'sql' | 'tenantId'>,
  entry: Kept,
  stamp: Stamp,
): Promise<void> {
  await others.catch(() => undefined);
  if (entry.history.revision !== stamp.revision) entry.history = await grow(reads, entry.history, stamp);
}

/** Commits first, and changes of these alone: what is imported between the two statements waits for the next time. */
async function grow(
  { sql, tenantId }: Pick<ActorReads, 'sql' | 'tenantId'>,
  history: History,
  stamp: Stamp,
): Promise<History> {
  const { projectId, graph } = history;
  const known = graph.size;
  const packages = await sql<{ packageNo: number; name: string; path: string }>(PACKAGES, [tenantId, projectId]);
  const [added] = await sql<{ commits: string | null }>(COMMITS, [tenantId, projectId, known]);
  const lines = added?.commits?.split(',') ?? [];
  const changes = await sql<{ packageNo: number; changes: string }>(CHANGES, [
    tenantId,
    projectId,
    known + lines.length,
    known,
    JSON.stringify(graph.packageNumbers),
  ]);
  for (const line of lines) {
    const [parents = '', date = '0'] = line.split(':');
    graph.addCommit(parents === '' ? [] : parents.split(' ').map(Number), Number(date));
  }
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
    ranges: stamp.workItemsEpoch === history.workItemsEpoch ? history.ranges : createRangeMemory(),
    packages: new Map(packages.map(({ name, packageNo, path }) => [name, { packageNo, path }])),
  };
}
