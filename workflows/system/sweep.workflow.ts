import { proxyActivities } from '@temporalio/workflow';
import type { SystemActivities } from '../../activities/system/system.activities.ts';
import { REPEATED_BY_SCHEDULE } from '../activity-options.ts';

const { runSweeps, removeOutlived } = proxyActivities<SystemActivities>(REPEATED_BY_SCHEDULE);

/** The net under everything accepted: whatever stayed undone is asked for again. Started by a schedule. */
export async function sweep(): Promise<void> {
  await runSweeps();
}

/** Removes what has outlived its time: kept replies, spent tokens, logs of deliveries. Started by a schedule. */
export async function housekeeping(): Promise<void> {
  await removeOutlived();
}
