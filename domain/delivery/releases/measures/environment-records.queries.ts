import { sql } from 'kysely';
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

/** What was installed in active environments by the last report that installed all of its release, and since; newest first. */
export async function installationsNow({ db, tenantId }: Reads, projectId: string, domain: string | undefined) {
  const { rows } = await sql<Installation>`
    with effective as (
      select d.id, d.environment_id, d.domain, d.deployed_at, d.created_at, d.installs_all from release_deployment d
      join environment e on e.tenant_id = d.tenant_id and e.id = d.environment_id and e.is_active
      where d.tenant_id = ${tenantId} and d.project_id = ${projectId} and d.status in ${INSTALLING_STATUSES} and d.rolled_back_at is null
        ${domain === undefined ? sql`` : sql`and d.domain = ${domain}`}),
    complete as (
      select distinct on (environment_id, domain) environment_id, domain, deployed_at, created_at, id
      from effective where installs_all order by environment_id, domain, deployed_at desc, created_at desc, id desc),
    recent as (
      select e.id from effective e left join complete c on c.environment_id = e.environment_id and c.domain = e.domain
      where c.id is null or (e.deployed_at, e.created_at, e.id) >= (c.deployed_at, c.created_at, c.id))
    select d.environment_id as "environmentId", d.domain, d.release_name as "releaseName", d.candidate_id as "candidateId", d.status,
      d.installs_all as "installsAll", d.installed
    from recent r join release_deployment d on d.tenant_id = ${tenantId} and d.id = r.id
    order by d.environment_id, d.domain, d.deployed_at desc, d.created_at desc, d.id desc`.execute(db);
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
