import { acceptRun } from '../../domain/flows/accept-run.ts';
import { findSchedule } from '../../domain/flows/flow-schedules.queries.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { flowRun } from '../../workflows/flows/flow-run.contract.ts';
import { scheduledFlow } from '../../workflows/flows/scheduled-flow.contract.ts';
import type { Deps } from '../deps.ts';

export const createScheduleActivities = ({ actingAs, launch, log }: Deps) => ({
  /** Takes on the run of a schedule, once for each occasion. What its payload names may have been removed: then there is none. */
  async startScheduledRun({
    tenantId,
    scheduleId,
    occasion,
  }: {
    tenantId: string;
    scheduleId: string;
    occasion: string;
  }): Promise<void> {
    try {
      const accepted = await actingAs(systemActor(tenantId, 'flow-schedule'))(async (tx) => {
        const schedule = await findSchedule(tx, scheduleId);
        if (!schedule) return undefined;
        const origin = {
          scheduleId,
          isScheduled: true,
          schedulePath: schedule.schedulePath,
          externalId: occasion,
          triggeredBy: 'cron',
        };
        return acceptRun(tx, schedule.payload, origin);
      });
      if (accepted) launch.begin(flowRun, accepted);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      log.warn({ err: error, scheduleId }, 'a schedule was due whose payload no longer holds');
    }
  },
});
export type ScheduleActivities = ReturnType<typeof createScheduleActivities>;

interface UnsyncedSchedule {
  tenantId: string;
  scheduleId: string;
  name: string;
  cron: string;
  timezone: string;
  isRemoved: boolean;
}

const UNSYNCED = `
  select tenant_id as "tenantId", id as "scheduleId", name, cron, timezone, deleted_at is not null as "isRemoved"
  from flow_schedule where synced_at is null and updated_at < now() - make_interval(secs => $1) order by updated_at limit 500`;
const OVERDUE_SECONDS = 5;

/** Tells the engine of schedules that were made or removed while it was away. */
export async function sweepSchedules({ systemPool, launch }: Deps, overdueSeconds = OVERDUE_SECONDS): Promise<number> {
  const { rows } = await systemPool.query<UnsyncedSchedule>(UNSYNCED, [overdueSeconds]);
  for (const { cron, timezone, isRemoved, ...input } of rows) {
    if (isRemoved) await launch.unschedule(scheduledFlow, input);
    else await launch.schedule(scheduledFlow, input, { cron, timezone });
    await systemPool.query('update flow_schedule set synced_at = now() where tenant_id = $1 and id = $2', [
      input.tenantId,
      input.scheduleId,
    ]);
  }
  return rows.length;
}
