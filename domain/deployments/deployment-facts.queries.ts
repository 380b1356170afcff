import { type RawBuilder, sql } from 'kysely';
import { json } from '../data/columns.ts';
import type { Reads } from '../data/fenced-reads.ts';
import { statement } from '../data/statement.ts';
import type { DeploymentStatus } from '../release-candidates/finalization-rules.ts';
import type { Packages } from './report-rules.ts';

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
  d.status, (extract(epoch from d.deployed_at) * 1000)::float8 as "deployedAt", (extract(epoch from d.created_at) * 1000)::float8 as "receivedAt",
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

/** Packages of a candidate that its first report to an environment left open. */
export interface OpenPackages {
  candidateId: string;
  environmentId: string;
  /** Of that report. */
  deployedAt: number;
  receivedAt: number;
  id: string;
  packages: readonly string[];
}

const OTHERS = statement<{ tenantId: string; open: string }>()(
  (_, { tenantId, open }) => sql<
    Omit<ReportRow, 'candidateId'> & { candidateId: string | null; forCandidateId: string }
  >`
    with w as materialized (
      select o.*, timestamptz 'epoch' + o."deployedAt" * interval '1 millisecond' as deployed_at,
        timestamptz 'epoch' + o."receivedAt" * interval '1 millisecond' as created_at
      from jsonb_to_recordset(${open}::jsonb) as o
        ("candidateId" uuid, "environmentId" uuid, "deployedAt" float8, "receivedAt" float8, id uuid, packages text[]))
    select ${REPORT}, d.installed, w."candidateId" as "forCandidateId"
    from w cross join lateral (
      select distinct on (before.id) before.* from unnest(w.packages) as p (name) cross join lateral (
        select * from release_deployment d
        where d.tenant_id = ${tenantId} and d.environment_id = w."environmentId" and d.candidate_id is distinct from w."candidateId"
          and d.status in ('Success', 'Partial') and d.rolled_back_at is null and jsonb_exists(d.installed, p.name)
          and (d.deployed_at, d.created_at, d.id) < (w.deployed_at, w.created_at, w.id)
        order by d.deployed_at desc, d.created_at desc, d.id desc limit 1) as before
      union all
      select * from release_deployment d
      where d.tenant_id = ${tenantId} and d.environment_id = w."environmentId" and d.candidate_id is distinct from w."candidateId"
        and d.status in ('Success', 'Partial') and d.rolled_back_at is null and jsonb_exists_any(d.installed, w.packages)
        and (d.deployed_at, d.created_at, d.id) > (w.deployed_at, w.created_at, w.id)) as d`,
);

/**
 * Effective reports of other candidates that installed open packages: of each package the last one before the report
 * that left it open, and all after it.
 */
export const othersReports = ({ db, tenantId }: Reads, open: readonly OpenPackages[]) =>
  OTHERS(db, { tenantId, open: json(open) });
