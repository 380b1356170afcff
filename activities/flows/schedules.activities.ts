import { acceptRun } from '../../domain/flows/accept-run.ts';
import { findSchedule } from '../../domain/flows/flow-schedules.queries.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { flowRun } from '../../workflows/flows/flow-run.contract.ts';
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
