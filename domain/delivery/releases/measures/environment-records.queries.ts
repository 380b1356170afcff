import { type RawBuilder, sql } from 'kysely';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { ReadDatabase } from '../../../kernel/data/tables.ts';
import { INSTALLING_STATUSES } from '../../deployments/deployments.queries.ts';
import { asTable } from '../../release-candidates/candidate-series.queries.ts';
import type { CandidateName } from '../../release-candidates/release-candidates.queries.ts';
import type { Installation } from '../active-release-rules.ts';

/** The last deployment of a release to an environment. */
export type EnvironmentRecord = Awaited<ReturnType<typeof environmentRecords>>[number];

/** Records of releases in all environments of their project, in the order in which releases travel. */
export const environmentRecords = ({ db, tenantId }: Reads, projectId: string, releases: readonly CandidateName[]) =>
  db
    .with('latest', () => latestDeployments(db, tenantId, projectId, releases))
    .selectFrom('latest as d')
    .innerJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 'd.tenantId').onRef('e.id', '=', 'd.environmentId'),
    )
    .orderBy('e.orchestrationOrder')
    .orderBy('e.name')
    .select([
      'd.id',
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
      'd.installed',
      'd.candidateId',
      'd.contentDigest',
      'd.releaseDefinition as definition',
      'd.metadata',
      'd.approval',
      'd.policyViolations',
      'd.rollback',
      'd.executionId',
    ])
    .execute();

/** Which places of a project are asked for: active environments, and the domains that were deployed to them. */
export interface PlaceFilter {
  domain?: string | undefined;
  /** Absent: all active ones. */
  environmentIds?: readonly string[] | undefined;
}

/**
 * The domains of each environment as a recursive CTE `place`: one step of an index each, however many deployments there
 * are.
 */
function placesOf({ tenantId }: Reads, projectId: string, { domain, environmentIds }: PlaceFilter) {
  const next = (environmentId: RawBuilder<unknown>, after: RawBuilder<unknown>) => sql`(
    select min(d.domain) from release_deployment d
    where d.tenant_id = ${tenantId} and d.project_id = ${projectId} and d.environment_id = ${environmentId} ${after})`;
  const first = domain === undefined ? next(sql`e.id`, sql``) : sql`${domain}::text`;
  return sql`place (environment_id, domain) as (
      select e.id, ${first} from environment e
      where e.tenant_id = ${tenantId} and e.project_id = ${projectId} and e.is_active
        ${environmentIds ? sql`and e.id = any (${environmentIds}::uuid[])` : sql``}
      union all
      select p.environment_id, ${domain === undefined ? next(sql`p.environment_id`, sql`and d.domain > p.domain`) : sql`null::text`}
      from place p where p.domain is not null)`;
}

/** The last of the reports `d` comes first. */
const NEWEST = sql`order by d.deployed_at desc, d.created_at desc, d.id desc`;

/** What was installed in active environments by the last report that installed all of its release, and since; newest first. */
export async function installationsNow(reads: Reads, projectId: string, filter: PlaceFilter) {
  const ofPlace = sql`d.tenant_id = ${reads.tenantId} and d.environment_id = p.environment_id and d.domain = p.domain
    and d.status in ${INSTALLING_STATUSES} and d.rolled_back_at is null`;
  const { rows } = await sql<Installation & { deployedAt: string; by: string | null }>`
    with recursive ${placesOf(reads, projectId, filter)}
    select p.environment_id as "environmentId", p.domain, d.release_name as "releaseName", d.candidate_id as "candidateId",
      d.status, d.installs_all as "installsAll", d.installed, d.deployed_at as "deployedAt", d.reported_by ->> 'email' as by
    from place p
    cross join lateral (
      select d.id, d.installs_all from release_deployment d where ${ofPlace} ${NEWEST} limit 1) as newest
    left join lateral (
      select d.deployed_at, d.created_at, d.id from release_deployment d
      where ${ofPlace} and d.installs_all ${NEWEST} limit 1) as complete on not newest.installs_all
    -- Mostly the newest one is all; only where it is not are others gone through, which no index finds behind the fence.
    cross join lateral (
      select d.* from release_deployment d where d.tenant_id = ${reads.tenantId} and d.id = newest.id and newest.installs_all
      union all
      select d.* from release_deployment d
      where ${ofPlace} and not newest.installs_all and (complete.id is null
        or (d.deployed_at, d.created_at, d.id) >= (complete.deployed_at, complete.created_at, complete.id))) as d
    where p.domain is not null
    order by p.environment_id, p.domain, d.deployed_at desc, d.created_at desc, d.id desc`.execute(reads.db);
  return rows;
}

/** The release of the last success in each domain of active environments, also where it was taken back since. */
export async function lastSucceeded(reads: Reads, projectId: string, filter: PlaceFilter): Promise<CandidateName[]> {
  const { rows } = await sql<CandidateName>`
    with recursive ${placesOf(reads, projectId, filter)}
    select distinct p.domain, last.release_name as "releaseName"
    from place p
    cross join lateral (
      select d.release_name from release_deployment d
      where d.tenant_id = ${reads.tenantId} and d.environment_id = p.environment_id and d.domain = p.domain
        and d.status = 'Success' ${NEWEST} limit 1) as last
    where p.domain is not null`.execute(reads.db);
  return rows;
}

/** The newest deployment of each release to each environment. */
const latestDeployments = (db: ReadDatabase, tenantId: string, projectId: string, releases: readonly CandidateName[]) =>
  db
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
    .orderBy('d.createdAt', 'desc')
    .orderBy('d.id', 'desc')
    .select([
      'd.id',
      'd.createdAt',
      'd.candidateId',
      'd.contentDigest',
      'd.installed',
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
      'd.policyViolations',
      'd.rollback',
      'd.executionId',
    ]);
