import { sql } from 'kysely';
import { secondsAgo } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ReportedRequestKey } from '../work.signals.ts';

/** Work items show what they should within this time where their tracker answers. */
const REPORTED_WITHIN_SECONDS = 60;

/** What a work item shows of a run, and what it should; undefined for a request that has none. */
export const reportOf = ({ db, tenantId }: Reads, requestId: string) =>
  db
    .selectFrom('work_item_request')
    .where('tenantId', '=', tenantId)
    .where('id', '=', requestId)
    .where('workItemKey', 'is not', null)
    .select([
      'projectId',
      'platform',
      sql<string>`work_item_key`.as('workItemKey'),
      'report',
      'reportRevision',
      'reportWrittenRevision',
      'commentId',
      'closeDueAt',
      'startedAt',
      'completedAt',
    ])
    .executeTakeFirst();
export type ItemReport = NonNullable<Awaited<ReturnType<typeof reportOf>>>;

/** Records what was written, or that it never can be, and why. */
export async function noteReportWritten(
  { db, tenantId }: Tx,
  requestId: string,
  { revision, commentId, error }: { revision: number; commentId?: string | undefined; error: string | null },
): Promise<void> {
  await db
    .updateTable('work_item_request')
    .set(({ fn }) => ({
      reportWrittenRevision: sql<number>`greatest(report_written_revision, ${revision})`,
      commentId: fn.coalesce(sql<string | null>`${commentId ?? null}`, 'commentId'),
      reportError: error,
    }))
    .where('tenantId', '=', tenantId)
    .where('id', '=', requestId)
    .execute();
}

/** Records why something is not written yet, and when it may be tried again; the work item is not closed before. */
export async function noteReportUnwritten(
  { db, tenantId }: Tx,
  requestId: string,
  { error, retryAt }: { error: string; retryAt: Date },
): Promise<void> {
  await db
    .updateTable('work_item_request')
    .set({
      reportError: error,
      reportChangedAt: retryAt,
      closeDueAt: sql<string | null>`case when close_due_at is not null then greatest(close_due_at, ${retryAt}) end`,
    })
    .where('tenantId', '=', tenantId)
    .where('id', '=', requestId)
    .execute();
}

/** Records why the work item is not closed; `retryAt` null: it never will be. */
export async function noteNotClosed(
  { db, tenantId }: Tx,
  requestId: string,
  { error, retryAt }: { error: string; retryAt: Date | null },
): Promise<void> {
  await db
    .updateTable('work_item_request')
    .set({ reportError: error, closeDueAt: retryAt })
    .where('tenantId', '=', tenantId)
    .where('id', '=', requestId)
    .where('closeDueAt', 'is not', null)
    .execute();
}

export interface RequestKey extends TenantKey {
  requestId: string;
}

/** Requests whose work items do not show in time what they should, or should be closed. */
export const overdueReports = (system: Database, limit: number): Promise<(TenantKey & ReportedRequestKey)[]> =>
  system
    .selectFrom('work_item_request as r')
    .select(['r.tenantId', tenantSlugOf('r.tenantId'), 'r.id as requestId', 'r.repositoryIdentifier'])
    .where((eb) =>
      eb.or([
        eb.and([
          eb('r.reportWrittenRevision', '<', eb.ref('r.reportRevision')),
          eb('r.reportChangedAt', '<', secondsAgo(REPORTED_WITHIN_SECONDS)),
        ]),
        eb('r.closeDueAt', '<', secondsAgo(REPORTED_WITHIN_SECONDS)),
      ]),
    )
    // What was due longest comes first; each attempt that fails sets a later time.
    .orderBy(sql`least(r.report_changed_at, r.close_due_at)`)
    .orderBy('r.id')
    .limit(limit)
    .execute();

/** Requests whose work item no tracker has confirmed for so long. */
export const unconfirmedRequests = (system: Database, seconds: number, limit: number): Promise<RequestKey[]> =>
  system
    .selectFrom('work_item_request as r')
    .select(['r.tenantId', tenantSlugOf('r.tenantId'), 'r.id as requestId'])
    .where('r.status', '=', 'creating')
    .where('r.createdAt', '<', secondsAgo(seconds))
    .orderBy('r.createdAt')
    .limit(limit)
    .execute();
