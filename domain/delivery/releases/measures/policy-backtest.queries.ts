import { sql } from 'kysely';
import { epochMs } from '../../../kernel/data/conditions.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { PastVerification } from '../../promotion/backtest-rules.ts';

interface Origin {
  /** When its commit was made where that is mirrored, else when its candidate was created; in milliseconds since the epoch. */
  bornAt: number | null;
  /** It came with an approval. */
  isApproved: boolean;
}

/** Where deployments come from, by id. */
export async function originsOf(
  { db, tenantId }: Reads,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, Origin>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('release_deployment as d')
    .leftJoin('release_candidate as c', (join) =>
      join.onRef('c.tenantId', '=', 'd.tenantId').onRef('c.id', '=', 'd.candidateId'),
    )
    .leftJoin('git_commit as g', (join) =>
      join
        .onRef('g.tenantId', '=', 'd.tenantId')
        .onRef('g.projectId', '=', 'd.projectId')
        .onRef('g.sha', '=', 'd.commitSha'),
    )
    .where('d.tenantId', '=', tenantId)
    .where('d.projectId', '=', projectId)
    .where('d.id', '=', sql<string>`any (${ids}::uuid[])`)
    .select([
      'd.id',
      epochMs(sql`coalesce(g.committed_at, c.created_at)`).$castTo<number | null>().as('bornAt'),
      sql<boolean>`d.approval is not null`.as('isApproved'),
    ])
    .execute();
  return new Map(rows.map(({ id, ...origin }) => [id, origin]));
}

/** The median time from asking for an approval until it was given, by environment, in milliseconds. */
export async function medianResponses(
  { db, tenantId }: Reads,
  environmentIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('approval as a')
    .where('a.tenantId', '=', tenantId)
    .where('a.environmentId', '=', sql<string>`any (${environmentIds}::uuid[])`)
    .where('a.status', '=', 'approved')
    .where('a.resolvedAt', 'is not', null)
    .groupBy('a.environmentId')
    .select([
      'a.environmentId',
      sql<number>`percentile_cont(0.5) within group (order by extract(epoch from a.resolved_at - a.created_at) * 1000)::float8`.as(
        'medianMs',
      ),
    ])
    .execute();
  return new Map(rows.flatMap(({ environmentId, medianMs }) => (environmentId ? [[environmentId, medianMs]] : [])));
}

/** The verifications of deployments to environments, oldest first, by deployment. */
export async function pastVerifications(
  { db, tenantId }: Reads,
  environmentIds: readonly string[],
): Promise<Map<string, PastVerification[]>> {
  const rows = await db
    .selectFrom('verification')
    .where('tenantId', '=', tenantId)
    .where('environmentId', '=', sql<string>`any (${environmentIds}::uuid[])`)
    .orderBy('createdAt')
    .orderBy('id')
    .select([
      'deploymentId',
      'state',
      'detail',
      epochMs(sql`created_at`).as('createdAt'),
      epochMs(sql`ended_at`).$castTo<number | null>().as('endedAt'),
    ])
    .execute();
  return Map.groupBy(rows, ({ deploymentId }) => deploymentId);
}
