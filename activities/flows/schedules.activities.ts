import { acceptScheduledRun } from '../../domain/flows/flow-schedules.mutations.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { systemActor, type TenantKey } from '../../domain/shared/actor.ts';
import { flowRunContract } from '../../workflows/flows/flow-run.contract.ts';
import type { Deps } from '../deps.ts';

export const createScheduleActivities = ({ actingAs, launch, log }: Deps) => ({
  /** Starts the run of a schedule, once for each occasion; none when what its payload names was removed. */
  async startScheduledRun({
    scheduleId,
    occasion,
    ...tenant
  }: TenantKey & { scheduleId: string; occasion: string }): Promise<void> {
    try {
      const unit = actingAs(systemActor(tenant, 'flow-schedule'));
      const accepted = await unit((tx) => acceptScheduledRun(tx, scheduleId, occasion));
      if (accepted) launch.startInBackground(flowRunContract, accepted);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      log.warn({ err: error, scheduleId }, 'a schedule was due whose payload is no longer valid');
    }
  },
});
export type ScheduleActivities = ReturnType<typeof createScheduleActivities>;
