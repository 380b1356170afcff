import { type RawBuilder, sql } from 'kysely';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { type Slots, statement } from '../../../kernel/data/statement.ts';
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

interface PlacesGiven {
  tenantId: string;
  projectId: string;
  domain: string | undefined;
  environmentIds: readonly string[] | undefined;
}

/**
 * The domains of each environment as a recursive CTE `place`: one step of an index each, however many deployments there
 * are.
 */
function placesOf({ tenantId, projectId, domain, environmentIds }: Slots<PlacesGiven>) {
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

/** A report that installed something, or, with `isSucceeded`, the last that succeeded: of that its place and release alone. */
type PlaceRow = Installation & { deployedAt: string; by: string | null; isSucceeded: boolean };

/** What is read of a report that installed something, by name: a statement with all of a table's columns is not prepared. */
const INSTALLED = [
  'release_name',
  'candidate_id',
  'status',
  'installs_all',
  'installed',
  'deployed_at',
  'created_at',
  'id',
];
const installedOf = (alias: string) => sql.raw(INSTALLED.map((name) => `${alias}.${name}`).join(', '));

const PLACES_NOW = statement<PlacesGiven, { isWithSucceeded: boolean }>()((_, given, { isWithSucceeded }) => {
  const { tenantId } = given;
  const inPlace = (place: RawBuilder<unknown>) =>
    sql`d.tenant_id = ${tenantId} and d.environment_id = ${place}.environment_id and d.domain = ${place}.domain`;
  const installing = (place: RawBuilder<unknown>) =>
    sql`${inPlace(place)} and d.status in ${INSTALLING_STATUSES} and d.rolled_back_at is null`;
  const [p, n] = [sql`p`, sql`n`];
  const report = sql`select ${installedOf('d')}, d.reported_by ->> 'email' as by from release_deployment d`;
  const last = sql`union all
    select p.environment_id, p.domain, last.release_name, null, 'Success', false, null, null, null, null, null, true
    from place p cross join lateral (
      select d.release_name from release_deployment d where ${inPlace(p)} and d.status = 'Success' ${NEWEST} limit 1) as last
    where p.domain is not null`;
  return sql<PlaceRow>`
    with recursive ${placesOf(given)},
    newest as materialized (
      select p.environment_id, p.domain, ${installedOf('d')}, d.by from place p
      cross join lateral (${report} where ${installing(p)} ${NEWEST} limit 1) as d
      where p.domain is not null),
    found as (
      select n.environment_id, n.domain, ${installedOf('n')}, n.by, false as is_succeeded from newest n where n.installs_all
      union all
      -- Mostly the newest one is all; only where it is not are others gone through, which no index finds behind the fence.
      select n.environment_id, n.domain, ${installedOf('d')}, d.by, false from newest n
      left join lateral (
        select d.deployed_at, d.created_at, d.id from release_deployment d
        where ${installing(n)} and d.installs_all ${NEWEST} limit 1) as complete on true
      cross join lateral (
        ${report} where ${installing(n)} and (complete.id is null
          or (d.deployed_at, d.created_at, d.id) >= (complete.deployed_at, complete.created_at, complete.id))) as d
      where not n.installs_all
      ${isWithSucceeded ? last : sql``})
    select d.environment_id as "environmentId", d.domain, d.release_name as "releaseName", d.candidate_id as "candidateId",
      d.status, d.installs_all as "installsAll", d.installed, d.deployed_at as "deployedAt", d.by, d.is_succeeded as "isSucceeded"
    from found d
    order by d.environment_id, d.domain, d.deployed_at desc, d.created_at desc, d.id desc`;
});

/**
 * What was installed in active environments by the last report that installed all of its release, and since; newest first.
 * With `isWithSucceeded`, `succeeded` has the release of the last success in each domain of them, also where it was taken
 * back since.
 */
export async function installationsNow(
  { db, tenantId }: Reads,
  projectId: string,
  { domain, environmentIds }: PlaceFilter,
  { isWithSucceeded = false } = {},
) {
  const rows = await PLACES_NOW(db, { tenantId, projectId, domain, environmentIds }, { isWithSucceeded });
  return {
    installations: rows.filter(({ isSucceeded }) => !isSucceeded),
    succeeded: rows
      .filter(({ isSucceeded }) => isSucceeded)
      .map(({ domain: of, releaseName }) => ({ domain: of, releaseName })),
  };
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
