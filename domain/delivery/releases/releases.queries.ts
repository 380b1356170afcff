import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { asTable } from '../release-candidates/candidate-series.queries.ts';
import type { CandidateName } from '../release-candidates/release-candidates.queries.ts';

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

const OF_CANDIDATE = [
  'c.id as candidateId',
  'c.contentDigest',
  'c.branch',
  'c.status',
  'c.supersededBy',
  'c.holds',
  'c.createdAt',
  'c.value as definition',
] as const;

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
      ...OF_CANDIDATE,
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
