import { type RawBuilder, sql } from 'kysely';
import { epochMs, type PlaceCursor } from '../../../kernel/data/conditions.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { statement } from '../../../kernel/data/statement.ts';
import { ENVIRONMENTS_MAX } from '../../../projects/environments/environments.queries.ts';
import { ownReport, type ReportRow } from '../../deployments/deployment-facts.queries.ts';
import type { Packages } from '../../deployments/report-rules.ts';
import { FLOW_TYPES } from '../../flows/flow-types.ts';
import { isPromotion } from '../../flows/programs/executor-rules.ts';
import type { StoredMove } from '../../flows/run-move-rules.ts';
import type { RunStatus } from '../../flows/run-status-rules.ts';
import { isNamed } from '../../release-candidates/candidate-search.queries.ts';
import type { StoredHold } from '../../release-candidates/holds/hold-rules.ts';
import type { CandidateName } from '../../release-candidates/release-candidates.queries.ts';

const ACTIVE_ENVIRONMENTS = statement<{ tenantId: string; projectId: string }>()((db, { tenantId, projectId }) =>
  db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('isActive', '=', sql.lit(true))
    .orderBy('orchestrationOrder')
    .orderBy('name')
    .limit(sql.lit(ENVIRONMENTS_MAX))
    .select(['id', 'name', 'category', 'branch', 'orgUsername', 'promotion', 'orchestrationOrder']),
);
export type ColumnEnvironment = Awaited<ReturnType<typeof ACTIVE_ENVIRONMENTS>>[number];

/** The active environments of a project, in the order in which releases travel. */
export const activeEnvironments = ({ db, tenantId }: Reads, projectId: string): Promise<ColumnEnvironment[]> =>
  ACTIVE_ENVIRONMENTS(db, { tenantId, projectId });

export interface MatrixFilter {
  domain?: string | undefined;
  /** Part of a release's name, in any case, or the beginning of its commit's id. */
  q?: string | undefined;
  /** Candidates that were made before are left out, unless they stand. */
  from?: Date | undefined;
  /** Candidates that were finalized along with a newer one are rows, too. */
  includeSuperseded: boolean;
}

/** A candidate as a row of the matrix; moments as the database's text. */
export interface MatrixCandidate extends CandidateName {
  id: string;
  commitSha: string;
  branch: string | null;
  status: string;
  supersededBy: string | null;
  contentDigest: string;
  createdAt: string;
  artifacts: Packages;
  holds: StoredHold[];
}

/**
 * The rows as two CTEs: `standing`, which are rows whatever their age, and `listed`, the others. `domain` and `q` hold
 * for both.
 */
function rowsOf(
  { tenantId }: Reads,
  projectId: string,
  { domain, q, from, includeSuperseded }: MatrixFilter,
  standing: readonly CandidateName[],
) {
  const isMatching = sql`c.tenant_id = ${tenantId} and c.project_id = ${projectId}
    ${domain === undefined ? sql`` : sql`and c.domain = ${domain}`}
    ${q === undefined ? sql`` : sql`and ${isNamed(q)}`}`;
  const isListed = sql`${includeSuperseded ? sql`true` : sql`c.superseded_by is null`}
    ${from === undefined ? sql`` : sql`and c.created_at >= ${from.toISOString()}::timestamptz`}`;
  const names = sql`unnest(${standing.map((each) => each.domain)}::text[], ${standing.map((each) => each.releaseName)}::text[])`;
  return sql`standing as materialized (
      select c.id, c.created_at, (${isListed}) as is_listed from ${names} as w (domain, release_name)
      join release_candidate c on ${isMatching} and c.domain = w.domain and c.release_name = w.release_name),
    listed as not materialized (select c.id, c.created_at from release_candidate c where ${isMatching} and ${isListed})`;
}

/** Candidates as rows, newest first, and whether there are more. @param standing releases that are rows in any case. */
export async function matrixPage(
  reads: Reads,
  projectId: string,
  filter: MatrixFilter,
  standing: readonly CandidateName[],
  { cursor, limit }: { cursor: PlaceCursor | undefined; limit: number },
): Promise<{ candidates: MatrixCandidate[]; hasMore: boolean }> {
  const after = cursor
    ? sql`where (c.created_at, c.id) < (${cursor.createdAt}::timestamptz, ${cursor.id}::uuid)`
    : sql``;
  const newest = (rows: RawBuilder<unknown>) =>
    sql`(select c.id, c.created_at from ${rows} c ${after} order by c.created_at desc, c.id desc limit ${sql.lit(limit + 1)})`;
  const { rows } = await sql<MatrixCandidate>`
    with ${rowsOf(reads, projectId, filter, standing)},
    page as (
      select id from (${newest(sql`listed`)} union ${newest(sql`standing`)}) as found
      order by created_at desc, id desc limit ${sql.lit(limit + 1)})
    select c.id, c.domain, c.release_name as "releaseName", c.commit_sha as "commitSha", c.branch, c.status,
      c.superseded_by as "supersededBy", c.content_digest as "contentDigest", c.created_at as "createdAt", c.holds,
      coalesce(c.value -> 'artifacts', '{}') as artifacts
    from release_candidate c
    where c.tenant_id = ${reads.tenantId} and c.id = any (array(select id from page))
    order by c.created_at desc, c.id desc`.execute(reads.db);
  return { candidates: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** How many rows there are on all pages. */
export async function countRows(
  reads: Reads,
  projectId: string,
  filter: MatrixFilter,
  standing: readonly CandidateName[],
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    with ${rowsOf(reads, projectId, filter, standing)}
    select ((select count(*) from listed) + (select count(*) from standing where not is_listed))::int as total`.execute(
    reads.db,
  );
  return rows[0]?.total ?? 0;
}

/** A stored report of a candidate, and who made it. */
interface MatrixReport extends ReportRow {
  executionId: string | null;
  by: string | null;
  rolledBackAt: number | null;
  rolledBackBy: string | null;
}

const REPORTS = statement<{
  tenantId: string;
  ids: readonly string[];
  digests: readonly string[];
  environmentIds: readonly string[];
}>()(
  (_, { tenantId, ids, digests, environmentIds }) => sql<MatrixReport>`
    select ${ownReport(sql`w.digest`)}, d.execution_id as "executionId", d.reported_by ->> 'email' as by,
      ${epochMs(sql`d.rolled_back_at`)} as "rolledBackAt", d.rolled_back_by as "rolledBackBy"
    from unnest(${ids}::uuid[], ${digests}::text[]) as w (id, digest)
    join release_deployment d on d.tenant_id = ${tenantId} and d.candidate_id = w.id
      and d.environment_id = any (${environmentIds}::uuid[])`,
);

/** All reports of some candidates to some environments, in any order. */
export const matrixReports = async (
  { db, tenantId }: Reads,
  candidates: readonly { id: string; contentDigest: string }[],
  environmentIds: readonly string[],
): Promise<MatrixReport[]> =>
  candidates.length === 0
    ? []
    : REPORTS(db, {
        tenantId,
        ids: candidates.map(({ id }) => id),
        digests: candidates.map(({ contentDigest }) => contentDigest),
        environmentIds,
      });

/** Types of runs that take a release to environments. */
const DEPLOYING: readonly string[] = FLOW_TYPES.filter(isPromotion).map(({ id }) => id);
/** The ones of them whose children do, unless a pipeline or a command executes them as a whole. */
const BY_CHILDREN: readonly string[] = FLOW_TYPES.filter(({ own }) => own === 'children').map(({ id }) => id);

/** An open run of an environment; moments as the database's text. */
export interface OpenRun {
  id: string;
  environmentId: string;
  /** The release that it takes there; null: it takes none of the project. */
  release: CandidateName | null;
  status: RunStatus;
  hasWorkflow: boolean;
  triggeredBy: string;
  createdAt: string;
  waitsFor: string | null;
  nextWindowAt: string | null;
  moves: StoredMove[] | null;
  /** The approval that it waits for. */
  approvalId: string | null;
}

const OPEN_RUNS = statement<{ tenantId: string; projectId: string; environmentIds: readonly string[] }>()(
  (_, { tenantId, projectId, environmentIds }) => sql<OpenRun>`
    with place as (
      select id, environment_id from flow_run
      where tenant_id = ${tenantId} and display_status in ('Waiting', 'Running') and environment_id = any (${environmentIds}::uuid[])
      union
      select run_id, environment_id from environment_lock_ticket
      where tenant_id = ${tenantId} and state in ('asked', 'queued', 'held') and run_id is not null
        and environment_id = any (${environmentIds}::uuid[]))
    select r.id, w.environment_id as "environmentId", r.status, r.has_workflow as "hasWorkflow", r.triggered_by as "triggeredBy",
      r.created_at as "createdAt", r.waits_for as "waitsFor", r.next_window_at as "nextWindowAt", r.moves,
      case when r.task_type = any (${DEPLOYING}::text[]) and r.project_id = ${projectId} and r.domain is not null and r.release_name is not null
          and not (r.task_type = any (${BY_CHILDREN}::text[])
            and exists (select from flow_run c where c.tenant_id = r.tenant_id and c.parent_id = r.id))
        then json_build_object('domain', r.domain, 'releaseName', r.release_name) end as release,
      a.id as "approvalId"
    from place w
    join flow_run r on r.tenant_id = ${tenantId} and r.id = w.id and r.display_status in ('Waiting', 'Running')
    left join approval a on a.tenant_id = r.tenant_id and a.run_id = r.id and a.status = 'requested'`,
);

/** The open runs of some environments of a project, whatever they do there; one that takes the locks of several is in each. */
export const openRunsIn = (
  { db, tenantId }: Reads,
  projectId: string,
  environmentIds: readonly string[],
): Promise<OpenRun[]> => OPEN_RUNS(db, { tenantId, projectId, environmentIds });

const OPEN_APPROVALS = statement<{ tenantId: string; environmentIds: readonly string[] }>()(
  (db, { tenantId, environmentIds }) =>
    db
      .selectFrom('approval')
      .where('tenantId', '=', tenantId)
      .where('status', '=', sql.lit('requested'))
      .where('environmentId', '=', sql<string>`any (${environmentIds}::uuid[])`)
      .groupBy('environmentId')
      .select(['environmentId', sql<number>`count(*)::int`.as('open')]),
);

/** How many approvals that wait for a decision are about each of some environments; those without are absent. */
export async function openApprovalsOf(
  { db, tenantId }: Reads,
  environmentIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await OPEN_APPROVALS(db, { tenantId, environmentIds });
  return new Map(rows.map(({ environmentId, open }) => [environmentId ?? '', open]));
}
