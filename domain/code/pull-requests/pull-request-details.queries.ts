import { sql } from 'kysely';
import { batch } from '../../kernel/data/batches.ts';
import type { ChangedFiles } from './changed-files-rules.ts';
import type { Writes } from './refresh.queries.ts';

/** Open pull requests whose reviews are to be read, newest change first. */
export const unreadReviews = (
  { db, tenantId }: Writes,
  projectId: string,
  { ofRequested, limit }: { ofRequested: boolean; limit: number },
) =>
  db
    .selectFrom('pull_request')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('state', '=', 'open')
    .where('isDraft', '=', false)
    .where((eb) => eb.or([eb('reviewsReadAt', 'is', null), eb('reviewsReadAt', '<', eb.ref('changedAt'))]))
    .where(sql<boolean>`(requested -> 'users' <> '[]' or requested -> 'teams' <> '[]') = ${ofRequested}`)
    .orderBy('changedAt', 'desc')
    .limit(limit)
    .select(['number', 'changedAt'])
    .execute();

export async function noteReviewsRead(
  { db, tenantId }: Writes,
  projectId: string,
  read: { number: number; changedAt: string },
): Promise<void> {
  await db
    .updateTable('pull_request')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('number', '=', read.number)
    .set({ reviewsReadAt: read.changedAt })
    .execute();
}

/**
 * Pull requests whose changes are not known, or were between other commits: newest change first, and behind all others
 * those that could not be compared before.
 */
export const uncompared = (
  { db, tenantId }: Writes,
  projectId: string,
  { endedSince, limit }: { endedSince: Date; limit: number },
) =>
  db
    .selectFrom('pull_request as p')
    .leftJoin('git_ref as r', (join) =>
      join
        .onRef('r.tenantId', '=', 'p.tenantId')
        .onRef('r.projectId', '=', 'p.projectId')
        .on('r.kind', '=', 'branch')
        .onRef('r.name', '=', 'p.baseBranch'),
    )
    .where('p.tenantId', '=', tenantId)
    .where('p.projectId', '=', projectId)
    .where('p.headSha', 'is not', null)
    .where((eb) =>
      eb.or([
        eb.and([
          eb('p.state', '=', 'open'),
          eb.or([
            eb('p.comparedHead', 'is distinct from', eb.ref('p.headSha')),
            eb('p.comparedBase', 'is distinct from', eb.fn.coalesce('r.sha', 'p.baseSha')),
          ]),
        ]),
        eb.and([
          eb('p.state', '<>', 'open'),
          eb('p.comparedHead', 'is distinct from', eb.ref('p.headSha')),
          eb('p.endedAt', '>', endedSince.toISOString()),
        ]),
      ]),
    )
    .orderBy(sql`p.details_error is not null`)
    .orderBy('p.changedAt', 'desc')
    .limit(limit)
    .select(['p.number', 'p.state', 'p.baseBranch', 'p.baseSha', 'r.sha as baseTip'])
    .select('p.headSha')
    .$narrowType<{ headSha: string }>()
    .execute();

/** What a pull request changes, or why that is not known. */
export interface Comparison {
  number: number;
  comparedHead: string;
  comparedBase: string | null;
  files: ChangedFiles | null;
  packages: string[] | null;
  commitsAhead: number | null;
  commitsBehind: number | null;
  detailsError: string | null;
}

/** Records comparisons, each unless the pull request has another commit by now. */
export async function saveComparisons(
  { db, tenantId }: Writes,
  projectId: string,
  comparisons: readonly Comparison[],
): Promise<void> {
  const types = {
    number: 'int',
    comparedHead: 'text',
    comparedBase: 'text',
    files: 'jsonb',
    packages: 'text[]',
    commitsAhead: 'int',
    commitsBehind: 'int',
    detailsError: 'text',
  } as const;
  await db
    .updateTable('pull_request as p')
    .from(batch('c', comparisons, types))
    .where('p.tenantId', '=', tenantId)
    .where('p.projectId', '=', projectId)
    .whereRef('p.number', '=', 'c.number')
    .whereRef('p.headSha', '=', 'c.comparedHead')
    .set((eb) => ({
      comparedHead: eb.ref('c.comparedHead'),
      comparedBase: eb.ref('c.comparedBase'),
      files: sql`c.files`,
      packages: eb.ref('c.packages'),
      commitsAhead: eb.ref('c.commitsAhead'),
      commitsBehind: eb.ref('c.commitsBehind'),
      detailsError: eb.ref('c.detailsError'),
    }))
    .execute();
}
