import { proxyLocalActivities, workflowInfo, setWorkflowOptions } from '@temporalio/workflow';
import type { ScheduleActivities } from '../../../activities/delivery/flows/schedules.activities.ts';
import { LOCAL_DATABASE_WORK } from '../../activity-options.ts';
import type { ScheduledFlowInput } from './scheduled-flow.contract.ts';
import { endsOnItsBuild } from '../../versioning.ts';

const { startScheduledRun } = proxyLocalActivities<ScheduleActivities>(LOCAL_DATABASE_WORK);

setWorkflowOptions(endsOnItsBuild, scheduledFlow);

/** Creates the run of a schedule that is due. Its own id contains the time, so that each time makes one run. */
export async function scheduledFlow({ tenantId, tenantSlug, scheduleId }: ScheduledFlowInput): Promise<void> {
  await startScheduledRun({ tenantId, tenantSlug, scheduleId, occasion: workflowInfo().workflowId });
}
