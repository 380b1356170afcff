import { acceptScheduledRun } from '../../../domain/delivery/flows/schedules/flow-schedules.mutations.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import type { Deps } from '../../deps.ts';

export const createScheduleActivities = ({ actingAs, flows, launch, log }: Deps) => ({
  /** Starts the run of a schedule, once for each occasion; none where it cannot go, which run or schedule say. */
  async startScheduledRun({
    scheduleId,
    occasion,
    ...tenant
  }: TenantKey & { scheduleId: string; occasion: string }): Promise<void> {
    const unit = actingAs(systemActor(tenant, 'flow-schedule'));
    const { accepted, refusal } = await unit((tx) => acceptScheduledRun(tx, scheduleId, occasion, flows.commands));
    if (accepted) launch.startInBackground(flowRunContract, accepted);
    if (refusal !== undefined) log.warn({ scheduleId, refusal }, 'a schedule was due whose run cannot go');
  },
});
export type ScheduleActivities = ReturnType<typeof createScheduleActivities>;
