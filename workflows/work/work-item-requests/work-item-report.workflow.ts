import { ActivityFailure, condition, continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { WorkItemReportActivities } from '../../../activities/work/work-item-requests/work-item-reports.activities.ts';
import { TRACKER_CALL } from '../../activity-options.ts';
import { runLane } from '../../lane.ts';
import { reportChangedSignal, type WorkItemReportInput } from './work-item-report.contract.ts';

const { writeReport, closeWorkItem } = proxyActivities<WorkItemReportActivities>(TRACKER_CALL);

/**
 * Writes what a work item should show until nothing new came meanwhile, and closes it when that is due. What its tracker
 * keeps refusing is left to the sweeper.
 */
export async function workItemReport(input: WorkItemReportInput): Promise<void> {
  try {
    await runLane({
      signal: reportChangedSignal,
      async pump(isChanged) {
        const { closeInMs } = await writeReport(input);
        await closeWhenDue(input, closeInMs, isChanged);
        return null;
      },
      again: () => continueAsNew<typeof workItemReport>(input),
    });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
}

/** Closes the work item when that is due, unless there is something new to show first. */
async function closeWhenDue(
  input: WorkItemReportInput,
  closeInMs: number | null,
  isChanged: () => boolean,
): Promise<void> {
  if (closeInMs === null || isChanged()) return;
  setCurrentDetails('The work item is closed soon');
  if (await condition(isChanged, Math.max(1, closeInMs), { summary: 'work item is closed' })) return;
  const next = await closeWorkItem(input);
  await closeWhenDue(input, next.closeInMs, isChanged);
}
