import { sql, type SqlBool } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';
import { ENVIRONMENTS_MAX } from '../environments/environments.queries.ts';
import { asTable } from '../release-candidates/candidate-series.queries.ts';
import type { CandidateName } from '../release-candidates/release-candidates.queries.ts';

/** The last deployment of a release to an environment, with what was there before it. */
export type EnvironmentRecord = Awaited<ReturnType<typeof environmentRecords>>[number];

/** Records of releases in all environments of their project, in the order in which releases travel. */
export const environmentRecords = ({ db, tenantId }: Reads, projectId: string, releases: readonly CandidateName[]) =>
  db
    .with('latest', (inner) =>
      inner
        .selectFrom(asTable(releases))
        .innerJoin('release_deployment as d', (join) =>
          join
            .on('d.tenantId', '=', tenantId)
            .on('d.projectId', '=', projectId)
            .onRef('d.domain', '=', 'w.domain')
            .onRef('d.releaseName', '=', 'w.releaseName'),
        )
        .distinctOn(['d.domain', 'd.releaseName', 'd.environmentId'])
        .orderBy('d.domain')
        .orderBy('d.releaseName')
        .orderBy('d.environmentId')
        .orderBy('d.deployedAt', 'desc')
        .orderBy('d.id', 'desc')
        .select([
          'd.id',
          'd.tenantId',
          'd.domain',
          'd.releaseName',
          'd.environmentId',
          'd.status',
          'd.deployedAt',
          'd.rolledBackAt',
          'd.packages',
          'd.packageDetails',
          'd.releaseDefinition',
          'd.metadata',
          'd.approval',
          'd.rollback',
        ]),
    )
    .selectFrom('latest as d')
    .innerJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 'd.tenantId').onRef('e.id', '=', 'd.environmentId'),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('release_deployment as p')
          .whereRef('p.tenantId', '=', 'd.tenantId')
          .whereRef('p.environmentId', '=', 'd.environmentId')
          .whereRef('p.domain', '=', 'd.domain')
          .where('p.status', '=', 'Success')
          .whereRef('p.releaseName', '<>', 'd.releaseName')
          .where(sql<SqlBool>`(p.deployed_at, p.id) < (d.deployed_at, d.id)`)
          .where(sql<SqlBool>`(p.rolled_back_at is null or p.rolled_back_at > d.deployed_at)`)
          .orderBy('p.deployedAt', 'desc')
          .orderBy('p.id', 'desc')
          .limit(1)
          .select('p.packages')
          .as('previous'),
      (join) => join.onTrue(),
    )
    .orderBy('e.orchestrationOrder')
    .orderBy('e.name')
    .select([
      'd.domain',
      'd.releaseName',
      'd.environmentId',
      'e.name',
      'e.orchestrationOrder',
      'd.status',
      'd.deployedAt',
      'd.rolledBackAt',
      'd.packages',
      'd.packageDetails',
      'd.releaseDefinition as definition',
      'd.metadata',
      'd.approval',
      'd.rollback',
      // Of the other release of the domain that was there before; null: there was none.
      'previous.packages as previousPackages',
    ])
    .execute();

/** Versions of packages that run at this moment in an active environment. */
export type InstalledState = Awaited<ReturnType<typeof installedStates>>[number];

/** What runs at this moment in the active environments of a project, in the order in which releases travel. */
export function installedStates({ db, tenantId }: Reads, projectId: string, domain?: string) {
  const successes = db
    .selectFrom('release_deployment')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('status', '=', 'Success')
    .where('rolledBackAt', 'is', null);
  return db
    .with('deployed', () =>
      (domain === undefined ? successes : successes.where('domain', '=', domain)).select([
        'environmentId',
        'domain',
        'releaseName',
        'packages',
        'deployedAt',
        'id',
      ]),
    )
    .with('newest', (inner) =>
      inner
        .selectFrom('deployed')
        .distinctOn(['environmentId', 'domain'])
        .orderBy('environmentId')
        .orderBy('domain')
        .orderBy('deployedAt', 'desc')
        .orderBy('id', 'desc')
        .select(['environmentId', 'domain', 'releaseName']),
    )
    .with('current', (inner) =>
      inner
        .selectFrom('newest')
        .groupBy('environmentId')
        .select(['environmentId', sql<Record<string, string>>`jsonb_object_agg(domain, release_name)`.as('releases')]),
    )
    .with('installed', (inner) =>
      inner
        .selectFrom('deployed')
        .groupBy('environmentId')
        .select([
          'environmentId',
          sql<Record<string, string>>`jsonb_overlaid(packages order by deployed_at, id)`.as('packages'),
        ]),
    )
    .selectFrom('environment as e')
    .leftJoin('current', 'current.environmentId', 'e.id')
    .leftJoin('installed', 'installed.environmentId', 'e.id')
    .where('e.tenantId', '=', tenantId)
    .where('e.projectId', '=', projectId)
    .where('e.isActive', '=', true)
    .orderBy('e.orchestrationOrder')
    .orderBy('e.name')
    .limit(ENVIRONMENTS_MAX)
    .select([
      'e.id as environmentId',
      'e.name',
      'e.category',
      'e.orchestrationOrder',
      // Of each domain the release that runs.
      sql<Record<string, string>>`coalesce(current.releases, '{}')`.as('releases'),
      sql<Record<string, string>>`coalesce(installed.packages, '{}')`.as('packages'),
    ])
    .execute();
}
