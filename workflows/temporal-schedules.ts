import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  type ScheduleOptionsStartWorkflowAction,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import type { ScheduleTime, WorkflowContract } from './launch.ts';
import { ANALYSIS_NIGHT, nightlyAnalysisId } from './insight/code-analysis/nightly-analysis.contract.ts';
import { SYSTEM_QUEUE } from './queues.contract.ts';
import { startOptions } from './temporal-start.ts';
import { boundedId } from './workflow-id.ts';

/** Schedules of tenants. Each has the id of the workflow that it starts. */
export const temporalSchedules = (client: Client, queuePrefix: string) => ({
  async set<Input>(
    contract: WorkflowContract<Input>,
    input: Input,
    { cron, timezone, isPaused: paused }: ScheduleTime,
  ): Promise<void> {
    const action = startOptions(contract, input, queuePrefix);
    const scheduleId = action.workflowId;
    const schedule = {
      spec: { cronExpressions: [cron], timezone },
      policies: { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: '1 hour' as const },
      action: { type: 'startWorkflow' as const, workflowType: contract.workflow, ...action },
    };
    try {
      await client.schedule.create({ scheduleId, ...schedule, state: { note: action.staticSummary, paused } });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      await client.schedule.getHandle(scheduleId).update(({ state }) => ({ ...schedule, state: { ...state, paused } }));
    }
  },

  async ids(): Promise<Set<string>> {
    const ids = new Set<string>();
    for await (const { scheduleId } of client.schedule.list()) ids.add(scheduleId);
    return ids;
  },

  async delete<Input>(contract: WorkflowContract<Input>, input: Input): Promise<void> {
    try {
      await client.schedule.getHandle(boundedId(queuePrefix, contract.workflowId(input))).delete();
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    }
  },
});

/** Makes the schedule by which all tenants' code is analysed each night what this version wants it to be. */
export async function ensureNightlyAnalysis(client: Client, queuePrefix: string): Promise<void> {
  const scheduleId = nightlyAnalysisId(queuePrefix);
  const schedule: Pick<ScheduleOptions, 'spec' | 'policies'> & {
    action: ScheduleOptionsStartWorkflowAction<Workflow>;
  } = {
    spec: { cronExpressions: [ANALYSIS_NIGHT.cron], timezone: ANALYSIS_NIGHT.timezone },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '12 hours' },
    action: {
      type: 'startWorkflow',
      workflowType: 'nightlyAnalysis',
      workflowId: scheduleId,
      taskQueue: queuePrefix + SYSTEM_QUEUE,
      args: [{}],
      staticSummary: 'Analyses the branches of all tenants that were analysed before',
    },
  };
  try {
    await client.schedule.create({ scheduleId, ...schedule, state: { note: 'Code analysis of the night' } });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    // Whether it is paused is for operators to say.
    await client.schedule.getHandle(scheduleId).update(({ state }) => ({ ...schedule, state }));
  }
}
