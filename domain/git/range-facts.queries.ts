import type { Tx } from '../unit-of-work.ts';
import type { History } from './commit-graph-cache.ts';
import type { Range, RangeFacts } from './range-memory.ts';

export const rangeKey = ({ packageNo, from, to }: Range): string => `${packageNo}:${from ?? BEGINNING}:${to}`;

const BEGINNING = -1;

export interface Ranges {
  of: (range: Range) => RangeFacts;
  /** How many had to be computed now; the others were kept. */
  calculated: number;
  kept: number;
}

const NONE: RangeFacts = { commits: [], workItems: [], pullRequests: [] };

/**
 * The facts of ranges, each computed once and kept: commits never change, so they are true for good.
 * @param isForced computes them anew.
 */
export async function rangeFacts(
  tx: Tx,
  history: History,
  wanted: readonly Range[],
  { isForced = false } = {},
): Promise<Ranges> {
  const ranges = new Map(wanted.map((range) => [rangeKey(range), range]));
  const found = new Map<string, RangeFacts>();
  if (!isForced) {
    for (const key of ranges.keys()) {
      const facts = history.ranges.get(key);
      if (facts) found.set(key, facts);
    }
    const unread = [...ranges].filter(([key]) => !found.has(key));
    for (const [key, facts] of await readRanges(
      tx,
      history,
      unread.map(([, range]) => range),
    ))
      found.set(key, facts);
  }
  const missing = [...ranges].filter(([key]) => !found.has(key));
  for (const [key, facts] of await computeRanges(
    tx,
    history,
    missing.map(([, range]) => range),
  ))
    found.set(key, facts);
  for (const [key, facts] of found) history.ranges.set(key, facts);
  return {
    of: (range) => found.get(rangeKey(range)) ?? NONE,
    calculated: missing.length,
    kept: ranges.size - missing.length,
  };
}

const asRows = (ranges: readonly Range[]) =>
  JSON.stringify(ranges.map(({ packageNo, from, to }) => ({ packageNo, fromSeq: from ?? BEGINNING, toSeq: to })));

async function readRanges(
  { sql, tenantId }: Tx,
  { projectId }: History,
  ranges: readonly Range[],
): Promise<Map<string, RangeFacts>> {
  if (ranges.length === 0) return new Map();
  const rows = await sql<RangeFacts & { packageNo: number; fromSeq: number; toSeq: number }>(
    `select package_no as "packageNo", from_seq as "fromSeq", to_seq as "toSeq", to_jsonb(commits) as commits,
       to_jsonb(work_items) as "workItems", to_jsonb(pull_requests) as "pullRequests"
     from git_range r join jsonb_to_recordset(?::jsonb) as w ("packageNo" int, "fromSeq" int, "toSeq" int)
       on (r.package_no, r.from_seq, r.to_seq) = (w."packageNo", w."fromSeq", w."toSeq")
     where r.tenant_id = ? and r.project_id = ?`,
    [asRows(ranges), tenantId, projectId],
  );
  return new Map(
    rows.map(({ packageNo, fromSeq, toSeq, commits, workItems, pullRequests }) => [
      `${packageNo}:${fromSeq}:${toSeq}`,
      { commits, workItems, pullRequests },
    ]),
  );
}

async function computeRanges(tx: Tx, history: History, ranges: readonly Range[]): Promise<Map<string, RangeFacts>> {
  if (ranges.length === 0) return new Map();
  const listed = ranges.map((range) => ({
    range,
    commits: history.graph.log([range.packageNo], range.from, range.to),
  }));
  const mentions = await commitMentions(
    tx,
    history.projectId,
    listed.flatMap(({ commits }) => commits),
  );
  const computed = listed.map(({ range, commits }) => ({
    range,
    facts: { commits, ...mentionsOf(commits, mentions) },
  }));
  await keepRanges(tx, history.projectId, computed);
  return new Map(computed.map(({ range, facts }) => [rangeKey(range), facts]));
}

type Mentions = ReadonlyMap<number, { workItems: readonly string[]; pullRequests: readonly number[] }>;

/** Work items and pull requests of those commits that name any. */
export async function commitMentions(
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  projectId: string,
  commits: readonly number[],
): Promise<Mentions> {
  const distinct = [...new Set(commits)];
  if (distinct.length === 0) return new Map();
  const rows = await sql<{ seq: number; workItems: string[]; pullRequests: number[] }>(
    `select seq, to_jsonb(work_items) as "workItems", to_jsonb(pull_requests) as "pullRequests" from git_commit
     where tenant_id = ? and project_id = ? and seq in (select jsonb_array_elements_text(?::jsonb)::int)
       and (work_items <> '{}' or pull_requests <> '{}')`,
    [tenantId, projectId, JSON.stringify(distinct)],
  );
  return new Map(rows.map(({ seq, ...mentions }) => [seq, mentions]));
}

/** What some commits name together, in order of first mention. */
export const mentionsOf = (commits: readonly number[], mentions: Mentions) => ({
  workItems: [...new Set(commits.flatMap((commit) => mentions.get(commit)?.workItems ?? []))],
  pullRequests: [...new Set(commits.flatMap((commit) => mentions.get(commit)?.pullRequests ?? []))],
});

async function keepRanges(
  { sql, tenantId }: Tx,
  projectId: string,
  computed: readonly { range: Range; facts: RangeFacts }[],
): Promise<void> {
  const rows = computed
    .map(({ range: { packageNo, from, to }, facts }) => ({
      packageNo,
      fromSeq: from ?? BEGINNING,
      toSeq: to,
      ...facts,
    }))
    // In key order, so that two who keep the same never wait for each other in a circle.
    .toSorted((a, b) => a.packageNo - b.packageNo || a.fromSeq - b.fromSeq || a.toSeq - b.toSeq);
  await sql(
    `insert into git_range (tenant_id, project_id, package_no, from_seq, to_seq, commits, work_items, pull_requests)
     select ?, ?, "packageNo", "fromSeq", "toSeq", commits, "workItems", "pullRequests"
     from jsonb_to_recordset(?::jsonb) as r ("packageNo" int, "fromSeq" int, "toSeq" int, commits int[], "workItems" text[], "pullRequests" int[])
     on conflict (tenant_id, project_id, package_no, from_seq, to_seq) do nothing`,
    [tenantId, projectId, JSON.stringify(rows)],
  );
}
