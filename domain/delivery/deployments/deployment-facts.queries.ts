import { type RawBuilder, sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import { epochMs } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { DeploymentStatus } from '../release-candidates/finalization-rules.ts';
import type { CandidateName } from '../release-candidates/release-candidates.queries.ts';
import type { RemovedReport } from './deployed-rules.ts';
import { INSTALLING_STATUSES } from './deployments.queries.ts';
import type { Packages } from './report-rules.ts';
import type { SoakReport } from './soak-rules.ts';

/** A stored report; moments in milliseconds since the epoch. */
export interface ReportRow {
  id: string;
  environmentId: string;
  candidateId: string;
  contentDigest: string | null;
  status: DeploymentStatus;
  deployedAt: number;
  receivedAt: number;
  isRolledBack: boolean;
  /** Null: all packages of the candidate's present content. */
  installed: Packages | null;
}

/** Columns of a `ReportRow` but the last, of deployments `d`. */
const REPORT = sql`d.id, d.environment_id as "environmentId", d.candidate_id as "candidateId", d.content_digest as "contentDigest",
  d.status, ${epochMs(sql`d.deployed_at`)} as "deployedAt", ${epochMs(sql`d.created_at`)} as "receivedAt",
  d.rolled_back_at is not null as "isRolledBack"`;

/** Columns of a `ReportRow` of deployments `d`; `digest` is that of their candidate's present content. */
export const ownReport = (digest: RawBuilder<unknown>) =>
  sql`${REPORT}, case when d.installs_all and d.content_digest = ${digest} then null else d.installed end as installed`;

const OWN = statement<{
  tenantId: string;
  ids: readonly string[];
  digests: readonly string[];
  environmentIds: readonly string[] | undefined;
}>()(
  (_, { tenantId, ids, digests, environmentIds }) => sql<ReportRow>`
    select ${ownReport(sql`w.digest`)}
    from unnest(${ids}::uuid[], ${digests}::text[]) as w (id, digest)
    join release_deployment d on d.tenant_id = ${tenantId} and d.candidate_id = w.id
      ${environmentIds ? sql`and d.environment_id = any (${environmentIds}::uuid[])` : sql``}`,
);

/** All reports of some candidates, to some environments or to all, in any order. */
export const ownReports = (
  { db, tenantId }: Reads,
  candidates: readonly { id: string; contentDigest: string }[],
  environmentIds?: readonly string[],
): Promise<ReportRow[]> =>
  OWN(db, {
    tenantId,
    ids: candidates.map(({ id }) => id),
    digests: candidates.map(({ contentDigest }) => contentDigest),
    environmentIds,
  });

/** A `SoakReport` as it is stored. */
export type SoakRow = Omit<SoakReport, 'installed'> & Pick<ReportRow, 'environmentId' | 'installed'>;

/** How many reports to an environment are read, newest first, for what interrupts the use of a release. */
const SOAK_REPORTS_MAX = 1_000;

/** The newest reports to environments that are of a domain, or installed one of some packages. */
export async function soakReports(
  { db, tenantId }: Reads,
  environmentIds: readonly string[],
  { domain, contentDigest, packages }: { domain: string; contentDigest: string; packages: readonly string[] },
): Promise<SoakRow[]> {
  const { rows } = await sql<SoakRow>`
    select ${ownReport(sql`${contentDigest}`)}, d.domain,
      ${epochMs(sql`greatest(d.deployed_at, d.created_at, case when d.rollback is not null then d.updated_at end)`)} as "knownAt",
      ${epochMs(sql`case when d.rolled_back_at is not null then greatest(d.rolled_back_at, d.updated_at) end`)} as "takenBackAt"
    from unnest(${environmentIds}::uuid[]) as w (id)
    cross join lateral (
      select * from release_deployment r
      where r.tenant_id = ${tenantId} and r.environment_id = w.id and r.status in ('Success', 'Partial', 'Failed')
        and (r.domain = ${domain} or jsonb_exists_any(r.installed, ${packages}::text[]))
      order by r.deployed_at desc, r.created_at desc, r.id desc limit ${sql.lit(SOAK_REPORTS_MAX)}) as d`.execute(db);
  return rows;
}

/** All reports of some releases whose candidates were removed, in any order. */
export async function reportsOfRemoved(
  { db, tenantId }: Reads,
  projectId: string,
  releases: readonly CandidateName[],
): Promise<RemovedReport[]> {
  const domains = releases.map(({ domain }) => domain);
  const names = releases.map(({ releaseName }) => releaseName);
  const { rows } = await sql<RemovedReport>`
    select ${REPORT}, d.domain, d.release_name as "releaseName", d.packages, d.installed
    from unnest(${domains}::text[], ${names}::text[]) as w (domain, release_name)
    join release_deployment d on d.tenant_id = ${tenantId} and d.project_id = ${projectId}
      and d.domain = w.domain and d.release_name = w.release_name and d.candidate_id is null`.execute(db);
  return rows;
}

/** Packages that the first reports of some candidates to an environment left open. */
export interface OpenPackages {
  environmentId: string;
  /** When the oldest of those reports was deployed, in epoch milliseconds. */
  deployedAt: number;
  receivedAt: number;
  id: string;
  packages: readonly string[];
  candidateIds: readonly string[];
}

/** Effective reports to the environments `w` that installed a package and came before the reports that left it open. */
const before = (tenantId: unknown) => sql`
  from release_deployment d
  where d.tenant_id = ${tenantId} and d.environment_id = w."environmentId" and d.status in ${INSTALLING_STATUSES}
    and d.rolled_back_at is null and jsonb_exists(d.installed, p.name)
    and (d.deployed_at, d.created_at, d.id) < (w.deployed_at, w.created_at, w.id)`;
const NEWEST = sql`order by d.deployed_at desc, d.created_at desc, d.id desc limit 1`;

const OTHERS = statement<{ tenantId: string; open: string }>()(
  (_, { tenantId, open }) => sql<Omit<ReportRow, 'candidateId'> & { candidateId: string | null }>`
    with w as materialized (
      select o.*, timestamptz 'epoch' + o."deployedAt" * interval '1 millisecond' as deployed_at,
        timestamptz 'epoch' + o."receivedAt" * interval '1 millisecond' as created_at
      from jsonb_to_recordset(${open}::jsonb) as o
        ("environmentId" uuid, "deployedAt" float8, "receivedAt" float8, id uuid, packages text[], "candidateIds" uuid[])),
    needed as (
      -- The last one, and if that is of one of the candidates, the last of another.
      select v.id from w cross join lateral unnest(w.packages) as p (name)
        cross join lateral (select d.id, d.candidate_id ${before(tenantId)} ${NEWEST}) as last
        left join lateral (
          select d.id ${before(tenantId)} and last.candidate_id = any (w."candidateIds")
            and d.candidate_id is distinct from last.candidate_id ${NEWEST}) as other on true
        cross join lateral (values (last.id), (other.id)) as v (id)
      union
      select d.id from w join release_deployment d on d.tenant_id = ${tenantId} and d.environment_id = w."environmentId"
        and d.status in ${INSTALLING_STATUSES} and d.rolled_back_at is null and jsonb_exists_any(d.installed, w.packages)
        and (d.deployed_at, d.created_at, d.id) >= (w.deployed_at, w.created_at, w.id))
    select ${REPORT}, d.installed from needed n join release_deployment d on d.tenant_id = ${tenantId} and d.id = n.id`,
);

/**
 * Effective reports that installed open packages: of each package the last ones before the oldest report that left one
 * open, and all from that on. Those of the candidates are among them.
 */
export const othersReports = ({ db, tenantId }: Reads, open: readonly OpenPackages[]) =>
  OTHERS(db, { tenantId, open: json(open) });
