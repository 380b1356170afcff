import { sql, type SqlBool } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';
import { INSTALLING_STATUSES } from '../deployments/deployments.queries.ts';
import { asTable } from '../release-candidates/candidate-series.queries.ts';
import type { CandidateName } from '../release-candidates/release-candidates.queries.ts';
import type { DeployedRelease } from './change-summary-rules.ts';

export interface ReleaseFilter {
  domain?: string | undefined;
  releaseName?: string | undefined;
  /** Only these; absent: all. */
  names?: readonly CandidateName[] | undefined;
}

/** Releases with when and how often they were deployed. */
function groupedReleases(reads: Reads, projectId: string, { domain, releaseName, names }: ReleaseFilter) {
  let deployments = reads.db
    .selectFrom('release_deployment')
    .where('tenantId', '=', reads.tenantId)
    .where('projectId', '=', projectId);
  if (domain !== undefined) deployments = deployments.where('domain', '=', domain);
  if (releaseName !== undefined) deployments = deployments.where('releaseName', '=', releaseName);
  if (names !== undefined) {
    deployments = deployments.where((eb) =>
      eb(
        eb.refTuple('domain', 'releaseName'),
        'in',
        eb.selectFrom(asTable(names)).select(['w.domain', 'w.releaseName']).$asTuple('domain', 'releaseName'),
      ),
    );
  }
  return deployments
    .groupBy(['domain', 'releaseName'])
    .select((eb) => [
      'domain',
      'releaseName',
      eb.fn.min('deployedAt').as('firstDeployedAt'),
      eb.fn.max('deployedAt').as('lastDeployedAt'),
      sql<number>`count(*)::int`.as('deploymentCount'),
    ]);
}

/** A release of a domain, which is all that was deployed under its name, with its candidate where there is one. */
export type ReleaseRow = Awaited<ReturnType<typeof releasePage>>['releases'][number];

/** One page of releases, those that were deployed last first. */
export async function releasePage(
  reads: Reads,
  projectId: string,
  filter: ReleaseFilter,
  { limit, offset }: { limit: number; offset: number },
) {
  const { db, tenantId } = reads;
  const rows = await db
    .with('page', (inner) =>
      inner
        .selectFrom(groupedReleases(reads, projectId, filter).as('grouped'))
        .orderBy('lastDeployedAt', 'desc')
        .orderBy('domain')
        .orderBy('releaseName')
        .limit(limit)
        .offset(offset)
        .select([
          'domain',
          'releaseName',
          'firstDeployedAt',
          'lastDeployedAt',
          'deploymentCount',
          sql<number>`(count(*) over ())::int`.as('total'),
        ]),
    )
    .selectFrom('page')
    .leftJoin('release_candidate as c', (join) =>
      join
        .on('c.tenantId', '=', tenantId)
        .on('c.projectId', '=', projectId)
        .onRef('c.domain', '=', 'page.domain')
        .onRef('c.releaseName', '=', 'page.releaseName'),
    )
    .orderBy('page.lastDeployedAt', 'desc')
    .orderBy('page.domain')
    .orderBy('page.releaseName')
    .select([
      'page.domain',
      'page.releaseName',
      'page.firstDeployedAt',
      'page.lastDeployedAt',
      'page.deploymentCount',
      'page.total',
      'c.id as candidateId',
      'c.contentDigest',
      'c.branch',
      'c.value as definition',
    ])
    .execute();
  const [first] = rows;
  if (first || offset === 0) return { releases: rows, total: first?.total ?? 0 };
  const { total } = await db
    .selectFrom(groupedReleases(reads, projectId, filter).as('grouped'))
    .select(sql<number>`count(*)::int`.as('total'))
    .executeTakeFirstOrThrow();
  return { releases: [], total };
}

/** The most releases of one series: the newest. */
export const SERIES_MAX = 2_000;

/** ISO 8601 in UTC with milliseconds. */
const isoOf = (column: string) =>
  sql<string>`to_char(${sql.ref(column)} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Releases by domain in the order in which they were first deployed; to one environment, or anywhere. Each has what its
 * reports installed together, those of earlier contents excepted.
 */
export function releaseSeries(
  { db, tenantId }: Reads,
  projectId: string,
  { domain, environmentName }: { domain?: string | undefined; environmentName?: string | undefined },
): Promise<DeployedRelease[]> {
  let reports = db
    .selectFrom('release_deployment as d')
    .innerJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 'd.tenantId').onRef('e.id', '=', 'd.environmentId'),
    )
    .where('d.tenantId', '=', tenantId)
    .where('d.projectId', '=', projectId)
    .where('d.status', 'in', INSTALLING_STATUSES);
  if (domain !== undefined) reports = reports.where('d.domain', '=', domain);
  if (environmentName !== undefined) reports = reports.where('e.name', '=', environmentName);
  const ofContent = reports.select([
    'd.id',
    'd.domain',
    'd.releaseName',
    'd.status',
    'd.deployedAt',
    'd.createdAt',
    'd.rolledBackAt',
    'd.installed',
    'e.name',
    'e.category',
    sql<boolean>`d.content_digest is not distinct from first_value(d.content_digest) over (
      partition by d.domain, d.release_name order by d.deployed_at desc, d.created_at desc, d.id desc)`.as(
      'isOfNewest',
    ),
  ]);
  const newest = db
    .selectFrom(ofContent.as('d'))
    .groupBy(['d.domain', 'd.releaseName'])
    .having(sql<SqlBool>`bool_or(d.status = 'Success')`)
    .select([
      'd.domain',
      'd.releaseName',
      sql<string>`min(d.deployed_at) filter (where d.status = 'Success')`.as('firstAt'),
      sql<
        Record<string, string>
      >`jsonb_overlaid(d.installed order by d.deployed_at, d.created_at, d.id) filter (where ${sql.ref('d.isOfNewest')})`.as(
        'packages',
      ),
      sql<DeployedRelease['deployments']>`jsonb_agg(jsonb_build_object('environment', d.name, 'category', d.category,
        'isRolledBack', d.rolled_back_at is not null, 'deployedAt', ${isoOf('d.deployedAt')}) order by d.deployed_at, d.id)
        filter (where d.status = 'Success')`.as('deployments'),
    ])
    .orderBy('firstAt', 'desc')
    .limit(sql.lit(SERIES_MAX));
  return db
    .selectFrom(newest.as('newest'))
    .orderBy('domain')
    .orderBy('firstAt')
    .orderBy('releaseName')
    .select(['domain', 'releaseName', 'packages', 'deployments'])
    .execute();
}

/** The newest approval of each release in each environment. */
export const newestApprovals = ({ db, tenantId }: Reads, projectId: string, releases: readonly CandidateName[]) =>
  db
    .selectFrom(asTable(releases))
    .innerJoin('approval as a', (join) =>
      join
        .on('a.tenantId', '=', tenantId)
        .on('a.projectId', '=', projectId)
        .onRef('a.domain', '=', 'w.domain')
        .onRef('a.releaseName', '=', 'w.releaseName'),
    )
    .distinctOn(['a.domain', 'a.releaseName', 'a.environmentId'])
    .orderBy('a.domain')
    .orderBy('a.releaseName')
    .orderBy('a.environmentId')
    .orderBy('a.createdAt', 'desc')
    .orderBy('a.id', 'desc')
    .select([
      'w.domain',
      'w.releaseName',
      'a.environmentId',
      'a.status',
      'a.requestedBy',
      'a.resolvedBy',
      'a.resolvedAt',
      sql<number | null>`(extract(epoch from a.resolved_at - a.created_at) * 1000)::bigint::float8`.as(
        'responseTimeMs',
      ),
    ])
    .execute();
