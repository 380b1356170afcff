import { proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { ScheduleActivities } from '../../activities/flows/schedules.activities.ts';
import { LOCAL_DATABASE_WORK } from '../activity-options.ts';
import type { ScheduledFlowInput } from './scheduled-flow.contract.ts';

const { startScheduledRun } = proxyLocalActivities<ScheduleActivities>(LOCAL_DATABASE_WORK);

/** Takes on the run of a schedule that is due. Its own id names the moment, so that one moment makes one run. */
export async function scheduledFlow({ tenantId, scheduleId }: ScheduledFlowInput): Promise<void> {
  await startScheduledRun({ tenantId, scheduleId, occasion: workflowInfo().workflowId });
}
