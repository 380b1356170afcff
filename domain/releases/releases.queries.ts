import type { PackageDetail } from '../deployments/deployments.queries.ts';
import type { DeploymentStatus } from '../release-candidates/finalization-rules.ts';
import type { ReleaseDefinition } from '../release-candidates/comparison-rules.ts';
import type { Tx } from '../unit-of-work.ts';
import type { Rollback } from './rollback-rules.ts';

type Sql = Pick<Tx, 'sql' | 'tenantId'>;
type Packages = Record<string, string>;

/** A release of a domain: all that was deployed under its name. Moments are the database's text. */
export interface ReleaseRow {
  domain: string;
  releaseName: string;
  firstDeployedAt: string;
  lastDeployedAt: string;
  deploymentCount: number;
  /** Of its candidate, where there is one. */
  candidateId: string | null;
  definition: ReleaseDefinition | null;
}

export interface ReleaseFilter {
  domain?: string | undefined;
  releaseName?: string | undefined;
  /** Only those that are deployed at this moment in at least one active environment. */
  activeOnly: boolean;
}

/** What is deployed at this moment: of each environment and domain the last success that was not taken back. */
const CURRENT = `
  select distinct on (d.environment_id, d.domain) d.environment_id, d.domain, d.release_name
  from release_deployment d join environment e on e.tenant_id = d.tenant_id and e.id = d.environment_id and e.is_active
  where d.tenant_id = ? and d.project_id = ? and d.status = 'Success' and d.rolled_back_at is null
  order by d.environment_id, d.domain, d.deployed_at desc, d.id desc`;

/** One page of releases, those that were deployed last first. */
export async function releasePage(
  { sql, tenantId }: Sql,
  projectId: string,
  { domain, releaseName, activeOnly }: ReleaseFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ releases: ReleaseRow[]; total: number }> {
  const rows = await sql<ReleaseRow & { total: number }>(
    `with current as (${CURRENT}),
     grouped as (
       select domain, release_name, min(deployed_at) as first_at, max(deployed_at) as last_at, count(*)::int as deployments
       from release_deployment
       where tenant_id = ? and project_id = ? and (?::text is null or domain = ?) and (?::text is null or release_name = ?)
         and (not ?::boolean or (domain, release_name) in (select domain, release_name from current))
       group by domain, release_name),
     page as (select *, count(*) over ()::int as total from grouped order by last_at desc, domain, release_name limit ? offset ?)
     select page.domain, page.release_name as "releaseName", first_at as "firstDeployedAt", last_at as "lastDeployedAt",
       deployments as "deploymentCount", total, c.id as "candidateId", c.value as definition
     from page left join release_candidate c
       on c.tenant_id = ? and c.project_id = ? and (c.domain, c.release_name) = (page.domain, page.release_name)
     order by last_at desc, page.domain, page.release_name`,
    [
      tenantId,
      projectId,
      tenantId,
      projectId,
      domain ?? null,
      domain ?? null,
      releaseName ?? null,
      releaseName ?? null,
      activeOnly,
      limit,
      offset,
      tenantId,
      projectId,
    ],
  );
  const [first] = rows;
  if (first || offset === 0) return { releases: rows, total: first?.total ?? 0 };
  const { total } = await releasePage(
    { sql, tenantId },
    projectId,
    { domain, releaseName, activeOnly },
    { limit: 1, offset: 0 },
  );
  return { releases: [], total };
}

/** The last deployment of a release to an environment, with what was there before it. */
export interface EnvironmentRecord {
  domain: string;
  releaseName: string;
  environmentId: string;
  name: string;
  orchestrationOrder: number;
  status: DeploymentStatus;
  deployedAt: string;
  rolledBackAt: string | null;
  packages: Packages;
  packageDetails: PackageDetail[];
  definition: ReleaseDefinition | null;
  metadata: unknown;
  approval: Record<string, unknown> | null;
  rollback: Rollback | null;
  /** Packages of the other release of the domain that was there before; null: there was none. */
  previousPackages: Packages | null;
}

const asNames = (releases: readonly { domain: string; releaseName: string }[]) =>
  JSON.stringify(releases.map(({ domain, releaseName }) => ({ domain, releaseName })));

/** Records of releases in all environments of their project, in the order in which releases travel. */
export const environmentRecords = (
  { sql, tenantId }: Sql,
  projectId: string,
  releases: readonly { domain: string; releaseName: string }[],
): Promise<EnvironmentRecord[]> =>
  sql(
    `with wanted as (select domain, "releaseName" as release_name from jsonb_to_recordset(?::jsonb) as w (domain text, "releaseName" text)),
     latest as (
       select distinct on (d.domain, d.release_name, d.environment_id) d.*
       from wanted join release_deployment d on d.tenant_id = ? and d.project_id = ? and (d.domain, d.release_name) = (wanted.domain, wanted.release_name)
       order by d.domain, d.release_name, d.environment_id, d.deployed_at desc, d.id desc)
     select d.domain, d.release_name as "releaseName", d.environment_id as "environmentId", e.name, e.orchestration_order as "orchestrationOrder",
       d.status, d.deployed_at as "deployedAt", d.rolled_back_at as "rolledBackAt", d.packages, d.package_details as "packageDetails",
       d.release_definition as definition, d.metadata, d.approval, d.rollback, previous.packages as "previousPackages"
     from latest d join environment e on e.tenant_id = d.tenant_id and e.id = d.environment_id
     left join lateral (
       select p.packages from release_deployment p
       where p.tenant_id = d.tenant_id and p.environment_id = d.environment_id and p.domain = d.domain and p.status = 'Success'
         and p.release_name <> d.release_name and (p.deployed_at, p.id) < (d.deployed_at, d.id)
         and (p.rolled_back_at is null or p.rolled_back_at > d.deployed_at)
       order by p.deployed_at desc, p.id desc limit 1) previous on true
     order by e.orchestration_order, e.name`,
    [asNames(releases), tenantId, projectId],
  );

/** Package versions that run at this moment in each active environment. */
export interface InstalledState {
  environmentId: string;
  name: string;
  category: string;
  orchestrationOrder: number;
  /** Of each domain the release that runs. */
  releases: Record<string, string>;
  packages: Packages;
}

/** What runs at this moment in the active environments of a project, in the order in which releases travel. */
export const installedStates = (
  { sql, tenantId }: Sql,
  projectId: string,
  domain?: string,
): Promise<InstalledState[]> =>
  sql(
    `with deployed as (
       select d.environment_id, d.domain, d.release_name, d.packages, d.deployed_at, d.id from release_deployment d
       where d.tenant_id = ? and d.project_id = ? and d.status = 'Success' and d.rolled_back_at is null and (?::text is null or d.domain = ?)),
     current as (
       select environment_id, jsonb_object_agg(domain, release_name) as releases from (
         select distinct on (environment_id, domain) environment_id, domain, release_name from deployed
         order by environment_id, domain, deployed_at desc, id desc) newest group by environment_id),
     installed as (select environment_id, jsonb_overlaid(packages order by deployed_at, id) as packages from deployed group by environment_id)
     select e.id as "environmentId", e.name, e.category, e.orchestration_order as "orchestrationOrder",
       coalesce(current.releases, '{}') as releases, coalesce(installed.packages, '{}') as packages
     from environment e left join current on current.environment_id = e.id left join installed on installed.environment_id = e.id
     where e.tenant_id = ? and e.project_id = ? and e.is_active order by e.orchestration_order, e.name limit 500`,
    [tenantId, projectId, domain ?? null, domain ?? null, tenantId, projectId],
  );

export interface ApprovalView {
  status: string;
  requestedBy: string | null;
  approvedBy: string | null;
  approvedAt: string | null;
  /** From the request to the decision. */
  responseTimeMs: number | null;
  source: string;
}

/** The newest approval of each release in each environment, by domain, release and environment. */
export async function approvalsOfReleases(
  { sql, tenantId }: Sql,
  projectId: string,
  releases: readonly { domain: string; releaseName: string }[],
) {
  const rows = await sql<ApprovalView & { domain: string; releaseName: string; environmentId: string }>(
    `select distinct on (a.domain, a.release_name, a.environment_id) a.domain, a.release_name as "releaseName", a.environment_id as "environmentId",
       a.status, a.requested_by as "requestedBy", case a.status when 'approved' then a.resolved_by end as "approvedBy",
       case a.status when 'approved' then a.resolved_at end as "approvedAt",
       (extract(epoch from a.resolved_at - a.created_at) * 1000)::bigint::float8 as "responseTimeMs", 'flow' as source
     from jsonb_to_recordset(?::jsonb) as w (domain text, "releaseName" text)
     join approval a on a.tenant_id = ? and a.project_id = ? and (a.domain, a.release_name) = (w.domain, w."releaseName")
     order by a.domain, a.release_name, a.environment_id, a.created_at desc, a.id desc`,
    [asNames(releases), tenantId, projectId],
  );
  const byPlace = new Map(
    rows.map(({ domain, releaseName, environmentId, ...view }) => [
      `${domain}\n${releaseName}\n${environmentId}`,
      view,
    ]),
  );
  return (record: EnvironmentRecord): ApprovalView | null =>
    byPlace.get(`${record.domain}\n${record.releaseName}\n${record.environmentId}`) ??
    reportedApproval(record.approval);
}

/** What a pipeline said of an approval that was given elsewhere. */
function reportedApproval(approval: Record<string, unknown> | null): ApprovalView | null {
  if (!approval) return null;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const { status, requestedBy, approvedBy, approvedAt, responseTimeMs } = approval;
  const at = Date.parse(text(approvedAt) ?? '');
  return {
    status: text(status) ?? 'approved',
    requestedBy: text(requestedBy),
    approvedBy: text(approvedBy),
    approvedAt: Number.isNaN(at) ? null : new Date(at).toISOString(),
    responseTimeMs: typeof responseTimeMs === 'number' ? responseTimeMs : null,
    source: 'report',
  };
}
