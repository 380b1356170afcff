import { type Expression, sql, type SqlBool } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { newId } from '../../kernel/shared/ids.ts';
import { pagesAhead } from '../../kernel/queues/pages-ahead.ts';
import {
  type ComplianceFilter,
  type ComplianceRow,
  isOfDeployments,
  matching,
  NO_VIOLATIONS,
  ROWS_PER_BATCH,
} from './compliance.queries.ts';

type Row = Omit<ComplianceRow, 'changelog'>;
type Cursor = Pick<Row, 'occurredAt' | 'id'>;

const COLUMNS = [
  'id',
  'approvalId',
  'executionId',
  'taskType',
  'repositoryIdentifier',
  'environment',
  'domain',
  'releaseName',
  'status',
  'requestedBy',
  'requestedAt',
  'resolvedBy',
  'resolvedAt',
  'responseTimeMs',
  'approvers',
  'comment',
  'source',
  'projectId',
  'override',
  'policyViolations',
  'occurredAt',
] as const satisfies readonly (keyof Row)[];

const behindCursor = (at: Expression<unknown>, id: Expression<unknown>, behind: Cursor): Expression<SqlBool> =>
  sql<SqlBool>`(${at}, ${id}) < (${behind.occurredAt}::timestamptz, ${behind.id}::uuid)`;

/** Steps of approvals, in the columns of the report. */
function steps({ db, tenantId }: Reads, filter: ComplianceFilter, behind?: Cursor) {
  const query = db
    .selectFrom('approval_event')
    .where(matching(tenantId, filter))
    .select([
      'id',
      'approvalId',
      sql<string | null>`run_id::text`.as('executionId'),
      'taskType',
      sql<string>`repository_identifier`.as('repositoryIdentifier'),
      'environmentName as environment',
      'domain',
      'releaseName',
      sql<string>`status`.as('status'),
      'requestedBy',
      'requestedAt',
      'resolvedBy',
      'resolvedAt',
      sql<number | null>`(extract(epoch from resolved_at - requested_at) * 1000)::float8`.as('responseTimeMs'),
      'approvers',
      'comment',
      sql<string>`source`.as('source'),
      'projectId',
      'override',
      NO_VIOLATIONS,
      'occurredAt',
    ]);
  const place = (eb: { ref: (column: 'occurredAt' | 'id') => Expression<unknown> }, cursor: Cursor) =>
    behindCursor(eb.ref('occurredAt'), eb.ref('id'), cursor);
  return (behind ? query.where((eb) => place(eb, behind)) : query).$castTo<Row>();
}

/**
 * A deployment has an approval if its report says so, if its run was given one, or if it was reported and is the first
 * of that content there since one was given.
 */
const HAS_APPROVAL = sql<SqlBool>`(coalesce(d.approval->>'status', case when d.approval is null then '' else 'approved' end) = 'approved'
  or exists (select from approval a where a.tenant_id = d.tenant_id and a.project_id = d.project_id and a.status = 'approved'
    and a.domain = d.domain and a.release_name = d.release_name and a.resolved_at <= d.created_at
    and (a.content_digest is null or d.content_digest is null or a.content_digest = d.content_digest)
    and (a.run_id = r.id or (r.id is null and a.environment_id = d.environment_id
      and not exists (select from release_deployment o where o.tenant_id = d.tenant_id and o.project_id = d.project_id
        and o.domain = d.domain and o.release_name = d.release_name and o.environment_id = d.environment_id
        and o.content_digest is not distinct from d.content_digest and o.status <> 'Cancelled'
        and o.created_at >= a.resolved_at and (o.created_at, o.id) < (d.created_at, d.id))))))`;

/** Nobody approved it, and it went to a release environment `e`. */
const IS_UNAPPROVED = sql<SqlBool>`(e.category = 'release' and not ${HAS_APPROVAL})`;

/** The run `r` that made a deployment `d`; pipelines name their runs as they like. */
const IS_RUN = sql<SqlBool>`r.id = case when d.execution_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then d.execution_id::uuid end`;

/** A deployment that is about to be recorded. */
export interface UnstoredDeployment {
  projectId: string;
  environmentId: string;
  domain: string;
  releaseName: string;
  contentDigest: string;
  executionId: string | undefined;
  /** Approval that was reported with the deployment. */
  approval: Record<string, unknown> | undefined;
}

/** Whether a deployment has an approval that is recorded now, as `HAS_APPROVAL`. */
export async function hasApproval({ db, tenantId }: Reads, deployment: UnstoredDeployment): Promise<boolean> {
  const { projectId, environmentId, domain, releaseName, contentDigest, executionId = null, approval } = deployment;
  const { rows } = await sql<{ isApproved: boolean }>`
    select ${HAS_APPROVAL} as "isApproved"
    from (select ${newId()}::uuid as id, ${tenantId}::uuid as tenant_id, ${projectId}::uuid as project_id, ${environmentId}::uuid as environment_id,
      ${domain}::text as domain, ${releaseName}::text as release_name, ${contentDigest}::text as content_digest, ${executionId}::text as execution_id,
      ${approval ? json(approval) : null}::jsonb as approval, now() as created_at) as d
    left join flow_run r on r.tenant_id = d.tenant_id and ${IS_RUN}`.execute(db);
  return rows[0]?.isApproved === true;
}

/** It broke a policy of its environment. */
const BREAKS_POLICY = sql<SqlBool>`d.policy_violations <> '[]'`;

/**
 * Deployments to release environments that nobody approved, and those to any that broke a policy, in the columns of the
 * report; what was cancelled is none.
 */
function unapproved({ db, tenantId }: Reads, filter: ComplianceFilter, behind?: Cursor) {
  const { repositoryIdentifier, status, taskType, environment, domain, requestedBy, from, to } = filter;
  const type = sql<string>`coalesce(r.task_type, 'release-event')`;
  const requester = sql<string>`coalesce(r.requested_by->>'email', d.reported_by->>'email')`;
  let query = db
    .selectFrom('release_deployment as d')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'd.tenantId').onRef('p.id', '=', 'd.projectId'))
    .innerJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 'd.tenantId').onRef('e.id', '=', 'd.environmentId'),
    )
    .leftJoin('flow_run as r', (join) => join.onRef('r.tenantId', '=', 'd.tenantId').on(IS_RUN))
    .where('d.tenantId', '=', tenantId)
    .where('p.identifier', '=', repositoryIdentifier)
    .where('d.status', '<>', 'Cancelled');
  if (status === 'not_requested') query = query.where(IS_UNAPPROVED);
  else if (status === 'policy_violated') query = query.where(sql<SqlBool>`${BREAKS_POLICY} and not ${IS_UNAPPROVED}`);
  else query = query.where(sql<SqlBool>`(${BREAKS_POLICY} or ${IS_UNAPPROVED})`);
  if (taskType !== undefined) query = query.where(type, '=', taskType);
  if (environment !== undefined) query = query.where('e.name', '=', environment);
  if (domain !== undefined) query = query.where('d.domain', '=', domain);
  if (requestedBy !== undefined) query = query.where(sql`lower(${requester})`, '=', sql`lower(${requestedBy})`);
  if (from !== undefined) query = query.where('d.deployedAt', '>=', from.toISOString());
  if (to !== undefined) query = query.where('d.deployedAt', '<', to.toISOString());
  if (behind) query = query.where((eb) => behindCursor(eb.ref('d.deployedAt'), eb.ref('d.id'), behind));
  return query
    .select([
      'd.id',
      sql<string | null>`null::uuid`.as('approvalId'),
      'd.executionId',
      type.as('taskType'),
      'p.identifier as repositoryIdentifier',
      'e.name as environment',
      'd.domain',
      'd.releaseName',
      // The filter says it already; asking again costs another look at the approvals of each row.
      (status === undefined
        ? sql<string>`case when ${IS_UNAPPROVED} then 'not_requested' else 'policy_violated' end`
        : sql<string>`${sql.lit(status)}::text`
      ).as('status'),
      requester.as('requestedBy'),
      'd.deployedAt as requestedAt',
      sql<string | null>`null::text`.as('resolvedBy'),
      sql<string | null>`null::timestamptz`.as('resolvedAt'),
      sql<number | null>`null::float8`.as('responseTimeMs'),
      sql<string[]>`'{}'::text[]`.as('approvers'),
      sql<string | null>`null::text`.as('comment'),
      sql<string>`case when r.id is null then 'report' else 'run' end`.as('source'),
      'd.projectId',
      'r.override',
      'd.policyViolations',
      'd.deployedAt as occurredAt',
    ])
    .$castTo<Row>();
}

/** What a filter shows of the two: steps of approvals, and deployments. */
const shows = ({ status, resolvedBy }: ComplianceFilter) => ({
  steps: !isOfDeployments(status),
  unapproved: (status === undefined || isOfDeployments(status)) && resolvedBy === undefined,
});

/** Both in one, newest first: no more of either than can be on the page. */
function newest(reads: Reads, filter: ComplianceFilter, rows: number, behind?: Cursor) {
  const ofSteps = steps(reads, filter, behind).orderBy('occurredAt', 'desc').orderBy('id', 'desc').limit(rows);
  const ofDeployments = unapproved(reads, filter, behind)
    .orderBy('occurredAt', 'desc')
    .orderBy('id', 'desc')
    .limit(rows);
  const shown = shows(filter);
  const source = !shown.steps
    ? ofDeployments
    : !shown.unapproved
      ? ofSteps
      : reads.db
          .selectFrom(ofSteps.as('s'))
          .select(COLUMNS)
          .unionAll(reads.db.selectFrom(ofDeployments.as('u')).select(COLUMNS));
  return reads.db.selectFrom(source.as('all')).select(COLUMNS).orderBy('occurredAt', 'desc').orderBy('id', 'desc');
}

/** One page of the report with the deployments that nobody approved or that broke a policy, newest first, and how many rows there are. */
export async function pageWithUnapproved(
  reads: Reads,
  filter: ComplianceFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: ComplianceRow[]; total: number }> {
  const shown = shows(filter);
  const count = async (query: { execute: () => Promise<{ count: number }[]> }) =>
    (await query.execute())[0]?.count ?? 0;
  const counted = sql<number>`count(*)::int`.as('count');
  const [items, ofSteps, ofDeployments] = await Promise.all([
    newest(reads, filter, limit + offset)
      .limit(limit)
      .offset(offset)
      .execute(),
    shown.steps ? count(reads.db.selectFrom(steps(reads, filter).as('s')).select(counted)) : 0,
    shown.unapproved ? count(reads.db.selectFrom(unapproved(reads, filter).as('u')).select(counted)) : 0,
  ]);
  return { items, total: ofSteps + ofDeployments };
}

/** The whole list of `pageWithUnapproved`, in batches of `rowsPerBatch` rows. */
export const batchesWithUnapproved = (
  reads: Reads,
  filter: ComplianceFilter,
  rowsPerBatch = ROWS_PER_BATCH,
): AsyncGenerator<ComplianceRow[], void> =>
  pagesAhead<ComplianceRow>(rowsPerBatch, (behind) =>
    newest(reads, filter, rowsPerBatch, behind).limit(rowsPerBatch).execute(),
  );
