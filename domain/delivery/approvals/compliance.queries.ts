import { type ExpressionBuilder, sql, type SqlBool } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tables } from '../../kernel/data/tables.ts';
import type { PolicyViolation } from '../../projects/policies/policy-violation-rules.ts';
import { pagesAhead } from '../../kernel/queues/pages-ahead.ts';
import { APPROVAL_STATUSES } from './approval-rules.ts';
import type { ReleaseChangelog } from './compliance-changelogs.ts';

/**
 * Statuses of deployments. `not_requested`: nobody approved it; `policy_violated`: it was approved, or needs no approval,
 * and broke a policy.
 */
export const DEPLOYMENT_ROW_STATUSES = ['not_requested', 'policy_violated'] as const;

/**
 * Statuses of steps of approvals and of deployments. `overridden`: a run passed the promotion policy by its override, and
 * nobody was asked.
 */
export const COMPLIANCE_STATUSES = [...APPROVAL_STATUSES, 'overridden', ...DEPLOYMENT_ROW_STATUSES] as const;
export type ComplianceStatus = (typeof COMPLIANCE_STATUSES)[number];

/** Whether rows of a status are of deployments; all others are of steps. */
export const isOfDeployments = (status: ComplianceStatus | undefined): status is DeploymentRowStatus =>
  DEPLOYMENT_ROW_STATUSES.some((each) => each === status);
type DeploymentRowStatus = (typeof DEPLOYMENT_ROW_STATUSES)[number];

export interface ComplianceFilter {
  repositoryIdentifier: string;
  status?: ComplianceStatus | undefined;
  taskType?: string | undefined;
  environment?: string | undefined;
  domain?: string | undefined;
  requestedBy?: string | undefined;
  resolvedBy?: string | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
}

/** Conditions on the steps of approvals. */
export const matching =
  (tenantId: string, filter: ComplianceFilter) => (eb: ExpressionBuilder<Tables, 'approval_event'>) => {
    const { repositoryIdentifier, status, taskType, environment, domain, requestedBy, resolvedBy, from, to } = filter;
    const conditions = [eb('tenantId', '=', tenantId), eb('repositoryIdentifier', '=', repositoryIdentifier)];
    if (status !== undefined && !isOfDeployments(status)) conditions.push(eb('status', '=', status));
    if (taskType !== undefined) conditions.push(eb('taskType', '=', taskType));
    if (environment !== undefined) conditions.push(eb('environmentName', '=', environment));
    if (domain !== undefined) conditions.push(eb('domain', '=', domain));
    const same = (column: 'requestedBy' | 'resolvedBy', email: string) =>
      eb(eb.fn<string>('lower', [column]), '=', eb.fn<string>('lower', [eb.val(email)]));
    if (requestedBy !== undefined) conditions.push(same('requestedBy', requestedBy));
    if (resolvedBy !== undefined) conditions.push(same('resolvedBy', resolvedBy));
    if (from !== undefined) conditions.push(eb('occurredAt', '>=', from.toISOString()));
    if (to !== undefined) conditions.push(eb('occurredAt', '<', to.toISOString()));
    return eb.and(conditions);
  };

/** Steps of approvals break no policy. */
export const NO_VIOLATIONS = sql<PolicyViolation[]>`'[]'::jsonb`.as('policyViolations');

const COLUMNS = [
  'e.id',
  'e.approvalId',
  'e.runId as executionId',
  'e.taskType',
  sql<string>`e.repository_identifier`.as('repositoryIdentifier'),
  'e.environmentName as environment',
  'e.domain',
  'e.releaseName',
  'e.status',
  'e.requestedBy',
  'e.requestedAt',
  'e.resolvedBy',
  'e.resolvedAt',
  sql<number | null>`(extract(epoch from e.resolved_at - e.requested_at) * 1000)::float8`.as('responseTimeMs'),
  'e.approvers',
  'e.comment',
  'e.source',
  'e.projectId',
  'e.override',
  NO_VIOLATIONS,
] as const;

type StepRow = Awaited<ReturnType<typeof listSteps>>[number];

/** A step of an approval as the report shows it. */
export type ComplianceRow = Omit<StepRow, 'status' | 'source' | 'approvalId' | 'executionId'> & {
  status: ComplianceStatus;
  /** What took the step; of a deployment: run, or report of a pipeline. */
  source: string;
  /** Null: nobody requested one. */
  approvalId: string | null;
  /** The run, or how the pipeline that reported the deployment names its own. */
  executionId: string | null;
  /** Only when it is requested; null: there is no such release candidate. */
  changelog?: ReleaseChangelog | null;
};

interface Cursor {
  occurredAt: string;
  id: string;
}

/** Steps of a repository's approvals, newest first, from the newest or from behind one of them. */
const listSteps = ({ db, tenantId }: Reads, filter: ComplianceFilter, limit: number, behind?: Cursor) =>
  db
    .with(
      (cte) => cte('page').materialized(),
      (inner) => {
        const steps = inner
          .selectFrom('approval_event')
          .where(matching(tenantId, filter))
          .orderBy('occurredAt', 'desc')
          .orderBy('id', 'desc')
          .limit(limit)
          .selectAll();
        return behind
          ? steps.where(sql<SqlBool>`(occurred_at, id) < (${behind.occurredAt}::timestamptz, ${behind.id}::uuid)`)
          : steps;
      },
    )
    .selectFrom('page as e')
    .orderBy('e.occurredAt', 'desc')
    .orderBy('e.id', 'desc')
    .select([...COLUMNS, 'e.occurredAt'])
    .execute();

/** One page of the steps of a repository's approvals, newest first, with how many there are. */
export async function compliancePage(
  { db, tenantId }: Reads,
  filter: ComplianceFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: ComplianceRow[]; total: number }> {
  const rows = await db
    .with(
      (cte) => cte('page').materialized(),
      (inner) =>
        inner
          .selectFrom('approval_event')
          .where(matching(tenantId, filter))
          .orderBy('occurredAt', 'desc')
          .orderBy('id', 'desc')
          .limit(limit)
          .offset(offset)
          .select(['id', 'occurredAt']),
    )
    .with('counted', (inner) =>
      inner
        .selectFrom('approval_event')
        .where(matching(tenantId, filter))
        .select(sql<number>`count(*)::int`.as('total')),
    )
    .selectFrom('counted')
    .leftJoin('page', (join) => join.onTrue())
    .leftJoin('approval_event as e', 'e.id', 'page.id')
    .orderBy('page.occurredAt', 'desc')
    .orderBy('page.id', 'desc')
    .select([...COLUMNS, 'page.occurredAt', 'counted.total'])
    .execute();
  const items = rows.filter((row): row is StepRow & { total: number } => row.id !== null);
  return { items, total: rows[0]?.total ?? 0 };
}

/** Rows of one query of the full report: many enough that round trips do not count, few enough for the memory. */
export const ROWS_PER_BATCH = 1_000;

/**
 * All steps in batches, newest first. Each begins exactly behind the last row of the one before it, so that what is
 * added meanwhile, which is newer, does not show; the next is fetched while the caller is at work.
 */
export const complianceBatches = (
  reads: Reads,
  filter: ComplianceFilter,
  rowsPerBatch = ROWS_PER_BATCH,
): AsyncGenerator<ComplianceRow[], void> =>
  pagesAhead<ComplianceRow>(rowsPerBatch, (behind) => listSteps(reads, filter, rowsPerBatch, behind));
