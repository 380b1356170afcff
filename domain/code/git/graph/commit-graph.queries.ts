import { sql } from 'kysely';
import { isOneOfNumbers } from '../../../kernel/data/conditions.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';

// One text per kind of fact: a row for each would cost several times as much.

/** A commit's numbers of parents, and its date in seconds since the epoch. */
export interface GraphCommit {
  parents: number[];
  date: number;
}

/** The commits from a number on, in order. @param to the last one; absent: all. */
export async function graphCommits(
  { db, tenantId }: Reads,
  projectId: string,
  from: number,
  to?: number,
): Promise<GraphCommit[]> {
  const { commits } = await db
    .selectFrom('git_commit')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('seq', '>=', from)
    .$if(to !== undefined, (query) => query.where('seq', '<=', to ?? from))
    .select(
      sql<
        string | null
      >`string_agg(array_to_string(parents, ' ') || ':' || extract(epoch from committed_at)::bigint, ',' order by seq)`.as(
        'commits',
      ),
    )
    .executeTakeFirstOrThrow();
  return (commits?.split(',') ?? []).map((commit) => {
    const [parents = '', date = '0'] = commit.split(':');
    return { parents: parents === '' ? [] : parents.split(' ').map(Number), date: Number(date) };
  });
}

/** Changes of packages as text: `commit:bits,commit:bits`. */
export interface PackageChangesText {
  packageNo: number;
  changes: string;
}

/**
 * The changes of packages in the commits from `from` to before `to`; of packages other than the known ones also those
 * in the commits before.
 */
export const graphChanges = (
  { db, tenantId }: Reads,
  projectId: string,
  { from, to, knownPackages }: { from: number; to: number; knownPackages: readonly number[] },
): Promise<PackageChangesText[]> =>
  db
    .selectFrom('git_commit_package')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('seq', '<', to)
    .where((eb) => eb.or([eb('seq', '>=', from), eb.not(isOneOfNumbers(eb, 'packageNo', knownPackages))]))
    .groupBy('packageNo')
    .select(['packageNo', sql<string>`string_agg(seq || ':' || parent_bits, ',' order by seq)`.as('changes')])
    .execute();

/** What the message of a commit says, as far as changelogs read it; the subject only of a merge. */
export type GraphMessage = [commit: number, workItems: string[], pullRequests: number[], subject: string | null];

/** Messages of the commits from `from` to before `to` that mention something, or merge. */
export async function graphMessages(
  { db, tenantId }: Reads,
  projectId: string,
  { from, to }: { from: number; to: number },
): Promise<GraphMessage[]> {
  const isMerge = sql<boolean>`cardinality(parents) > 1`;
  const { messages } = await db
    .selectFrom('git_commit')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('seq', '>=', from)
    .where('seq', '<', to)
    .where(sql<boolean>`(work_items <> '{}' or pull_requests <> '{}' or ${isMerge})`)
    .select(
      sql<
        string | null
      >`json_agg(json_build_array(seq, work_items, pull_requests, case when ${isMerge} then subject end))::text`.as(
        'messages',
      ),
    )
    .executeTakeFirstOrThrow();
  return JSON.parse(messages ?? '[]') as GraphMessage[];
}
