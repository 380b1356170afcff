import type { ActorReads } from '../data/fenced-reads.ts';
import { pagesAhead } from '../shared/pages-ahead.ts';
import type { ApprovalStatus } from './approval-rules.ts';
import type { ReleaseChangelog } from './compliance-changelogs.ts';

/** A step of an approval as the report shows it; moments are the database's text. */
export interface ComplianceRow {
  id: string;
  approvalId: string;
  executionId: string;
  taskType: string;
  repositoryIdentifier: string;
  environment: string | null;
  domain: string | null;
  releaseName: string | null;
  status: ApprovalStatus;
  requestedBy: string;
  requestedAt: string;
  resolvedBy: string | null;
  resolvedAt: string | null;
  /** Milliseconds from the request to the step; null for the request itself. */
  responseTimeMs: number | null;
  approvers: string[];
  comment: string | null;
  source: string;
  /** Of the project that had the repository then. */
  projectId: string | null;
  /** Only when it is asked for; null: there is no such release candidate. */
  changelog?: ReleaseChangelog | null;
}

export interface ComplianceFilter {
  repositoryIdentifier: string;
  status?: ApprovalStatus | undefined;
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

interface Condition {
  sql: string;
  parameters: unknown[];
}

function conditionOf(tenantId: string, filter: ComplianceFilter): Condition {
  const { repositoryIdentifier, status, taskType, environment, domain, requestedBy, resolvedBy, from, to } = filter;
  const parts: [string, unknown][] = [
    ['tenant_id = ?', tenantId],
    ['repository_identifier = ?', repositoryIdentifier],
    ['status = ?', status],
    ['task_type = ?', taskType],
    ['environment_name = ?', environment],
    ['domain = ?', domain],
    ['lower(requested_by) = lower(?)', requestedBy],
    ['lower(resolved_by) = lower(?)', resolvedBy],
    ['occurred_at >= ?', from],
    ['occurred_at < ?', to],
  ];
  const used = parts.filter(([, value]) => value !== undefined);
  return { sql: used.map(([part]) => part).join(' and '), parameters: used.map(([, value]) => value) };
}

const COLUMNS = `e.id, e.approval_id as "approvalId", e.run_id as "executionId", e.task_type as "taskType",
  e.repository_identifier as "repositoryIdentifier", e.environment_name as environment, e.domain, e.release_name as "releaseName",
  e.status, e.requested_by as "requestedBy", e.requested_at as "requestedAt", e.resolved_by as "resolvedBy", e.resolved_at as "resolvedAt",
  (extract(epoch from e.resolved_at - e.requested_at) * 1000)::float8 as "responseTimeMs", e.approvers, e.comment, e.source, e.project_id as "projectId"`;

/** One page of the steps of a repository's approvals, newest first, with how many there are. */
export async function compliancePage(
  { sql, tenantId }: ActorReads,
  filter: ComplianceFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: ComplianceRow[]; total: number }> {
  const condition = conditionOf(tenantId, filter);
  const rows = await sql<ComplianceRow & { total: number }>(
    `with page as materialized (
       select id, occurred_at from approval_event where ${condition.sql} order by occurred_at desc, id desc limit ? offset ?),
     counted as (select count(*)::int as total from approval_event where ${condition.sql})
     select ${COLUMNS}, counted.total
     from counted left join page on true left join approval_event e on e.id = page.id
     order by page.occurred_at desc, page.id desc`,
    [...condition.parameters, limit, offset, ...condition.parameters],
  );
  return { items: rows.filter(({ id }) => id !== null), total: rows[0]?.total ?? 0 };
}

/** Rows of one query of the full report: many enough that round trips do not count, few enough for the memory. */
const ROWS_PER_BATCH = 1_000;

/**
 * All steps in batches, newest first. Each goes on exactly behind the last row of the one before it, so that what is
 * added meanwhile, which is newer, does not show; the next is fetched while the caller is at work.
 */
export function complianceBatches(
  { sql, tenantId }: ActorReads,
  filter: ComplianceFilter,
  rowsPerBatch = ROWS_PER_BATCH,
): AsyncGenerator<ComplianceRow[], void> {
  const condition = conditionOf(tenantId, filter);
  return pagesAhead<ComplianceRow & Cursor>(rowsPerBatch, (behind) =>
    sql(
      `with page as materialized (
         select * from approval_event where ${condition.sql}${behind ? ' and (occurred_at, id) < (?::timestamptz, ?::uuid)' : ''}
         order by occurred_at desc, id desc limit ?)
       select ${COLUMNS}, e.occurred_at as "occurredAt" from page e order by e.occurred_at desc, e.id desc`,
      [...condition.parameters, ...(behind ? [behind.occurredAt, behind.id] : []), rowsPerBatch],
    ),
  );
}

interface Cursor {
  occurredAt: string;
  id: string;
}
