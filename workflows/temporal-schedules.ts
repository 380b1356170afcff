import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import type { CronTime, WorkflowContract } from './launch.ts';
import { startOptions } from './temporal-start.ts';
import { boundedId } from './workflow-id.ts';

/** Schedules of tenants. Each has the id of the workflow that it starts. */
export const temporalSchedules = (client: Client, queuePrefix: string) => ({
  async create<Input>(contract: WorkflowContract<Input>, input: Input, { cron, timezone }: CronTime): Promise<void> {
    const action = startOptions(contract, input, queuePrefix);
    try {
      await client.schedule.create({
        scheduleId: action.workflowId,
        spec: { cronExpressions: [cron], timezone },
        policies: { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: '1 hour' },
        state: { note: action.staticSummary },
        action: { type: 'startWorkflow', workflowType: contract.workflow, ...action },
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  },

  async delete<Input>(contract: WorkflowContract<Input>, input: Input): Promise<void> {
    try {
      await client.schedule.getHandle(boundedId(queuePrefix, contract.workflowId(input))).delete();
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    }
  },
});
