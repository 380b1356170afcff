import { sql } from 'kysely';
import { secondsAgo } from '../../kernel/data/conditions.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { AcceptedRun } from './new-runs.mutations.ts';
import { NEW_RUN } from './run-status-rules.ts';

/** A run of which nothing was heard for so long may have lost its workflow. */
const SILENT_SECONDS = 600;
/** Checks are written within this time where their host answers. */
const CHECKS_WRITTEN_WITHIN_SECONDS = 60;

export interface OverdueRun {
  run: AcceptedRun;
  isToCancel: boolean;
}

/**
 * Runs that make no progress: accepted or cancelled so long ago and still as they were, or silent for ten minutes. One
 * that a sweep dealt with is left alone for as long: `launchedAt` says when.
 */
export async function overdueRuns(system: Database, overdueSeconds: number, limit: number): Promise<OverdueRun[]> {
  const rows = await system
    .selectFrom('flow_run as r')
    .leftJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'r.tenantId').onRef('p.id', '=', 'r.projectId'))
    .select([
      'r.tenantId',
      tenantSlugOf('r.tenantId'),
      'r.id as runId',
      'r.taskType',
      'r.workflowPath',
      'p.identifier as repositoryIdentifier',
      'r.requestId',
      'r.traceparent',
      'r.cancelRequestedAt',
    ])
    .where('r.endedAt', 'is', null)
    .where('r.hasWorkflow', '=', true)
    .where((eb) => eb.or([eb('r.launchedAt', 'is', null), eb('r.launchedAt', '<', secondsAgo(SILENT_SECONDS))]))
    .where((eb) => {
      const waitsForUs = eb.or([eb('r.status', '=', NEW_RUN), eb('r.cancelRequestedAt', 'is not', null)]);
      return eb.or([
        eb('r.updatedAt', '<', secondsAgo(SILENT_SECONDS)),
        eb.and([waitsForUs, eb('r.updatedAt', '<', secondsAgo(overdueSeconds))]),
      ]);
    })
    .orderBy('r.updatedAt')
    .limit(limit)
    .execute();
  return rows.map(({ cancelRequestedAt, tenantId, tenantSlug, runId, taskType, workflowPath, ...origin }) => ({
    run: {
      tenantId,
      tenantSlug,
      runId,
      taskType,
      workflowPath,
      // What a workflow is started with has no nulls.
      ...(origin.repositoryIdentifier !== null && { repositoryIdentifier: origin.repositoryIdentifier }),
      ...(origin.requestId !== null && { requestId: origin.requestId }),
      ...(origin.traceparent !== null && { traceparent: origin.traceparent }),
    },
    isToCancel: cancelRequestedAt !== null,
  }));
}

/** Notes that a run was dealt with, so that the next sweeps leave it alone. */
export async function noteRunSwept(system: Database, { tenantId, runId }: AcceptedRun): Promise<void> {
  await system
    .updateTable('flow_run')
    .set({ launchedAt: sql<string>`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', runId)
    .execute();
}

/** Adds up the changes of counts since the last time, so that lists have few rows to add up themselves; answers how many. */
export async function settleRunCounts(system: Database): Promise<number> {
  const { rows } = await sql<{ settled: number }>`select settle_flow_run_tally() as settled`.execute(system);
  return rows[0]?.settled ?? 0;
}

export interface UnwrittenChecks extends TenantKey {
  runId: string;
  workflowPath: string | null;
}

/** Runs with checks that were not written to the git host in time. */
export const unwrittenChecks = (system: Database, limit: number): Promise<UnwrittenChecks[]> =>
  system
    .selectFrom('flow_check as c')
    .innerJoin('flow_run as r', (join) => join.onRef('r.tenantId', '=', 'c.tenantId').onRef('r.id', '=', 'c.runId'))
    .select(['c.tenantId', tenantSlugOf('c.tenantId'), 'c.runId', 'r.workflowPath'])
    .distinct()
    .whereRef('c.writtenRevision', '<', 'c.revision')
    .where('c.updatedAt', '<', secondsAgo(CHECKS_WRITTEN_WITHIN_SECONDS))
    .limit(limit)
    .execute();

export interface UnsyncedSchedule extends TenantKey {
  scheduleId: string;
  name: string;
  cron: string;
  timezone: string;
  isPaused: boolean;
  isRemoved: boolean;
  /** The database's text. */
  updatedAt: string;
}

/** Schedules that were made, changed or removed so long ago, and of which the engine does not know. */
export const unsyncedSchedules = (
  system: Database,
  overdueSeconds: number,
  limit: number,
): Promise<UnsyncedSchedule[]> =>
  system
    .selectFrom('flow_schedule as s')
    .select((eb) => [
      's.tenantId',
      tenantSlugOf('s.tenantId'),
      's.id as scheduleId',
      's.name',
      's.cron',
      's.timezone',
      's.isPaused',
      's.updatedAt',
      eb('s.deletedAt', 'is not', null).$castTo<boolean>().as('isRemoved'),
    ])
    .where('s.syncedAt', 'is', null)
    .where('s.updatedAt', '<', secondsAgo(overdueSeconds))
    .orderBy('s.updatedAt')
    .limit(limit)
    .execute();

/** Schedules that the engine has known for a minute or longer: younger ones may be missing in its list. */
export const syncedSchedules = (system: Database) =>
  system
    .selectFrom('flow_schedule as s')
    .select(['s.tenantId', tenantSlugOf('s.tenantId'), 's.id as scheduleId', 's.name'])
    .where('s.deletedAt', 'is', null)
    .where('s.syncedAt', '<', secondsAgo(60))
    .execute();

/** Marks schedules as unknown to the engine, so that the sweep makes them there again. */
export async function forgetScheduleSynced(system: Database, scheduleIds: readonly string[]): Promise<void> {
  await system
    .updateTable('flow_schedule')
    .set({ syncedAt: null })
    .where('id', '=', sql<string>`any (${scheduleIds}::uuid[])`)
    .execute();
}
