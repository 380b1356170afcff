import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { AnalysisResultActivities } from '../../../activities/insight/code-analysis/analysis-results.activities.ts';
import { GIT_WORK, OUTSIDE_CALL } from '../../activity-options.ts';
import { runLane } from '../../lane.ts';
import { type AnalysisResultsInput, resultsStoredSignal } from './analysis-results.contract.ts';

const { compareResults } = proxyActivities<AnalysisResultActivities>(GIT_WORK);
const { writeResultStatuses } = proxyActivities<AnalysisResultActivities>(OUTSIDE_CALL);

/**
 * Compares the new results of a branch with those before them, and writes what the quality gate says to the git host.
 * Completes when nothing is due; new results start it again.
 */
export async function analysisResults(input: AnalysisResultsInput): Promise<void> {
  let compared = 0;
  await runLane({
    signal: resultsStoredSignal,
    async pump() {
      const report = await compareResults(input);
      compared += report.compared;
      const unwritten = report.statuses > 0 ? await writeResultStatuses(input) : 0;
      setCurrentDetails(`Analyses compared: ${compared}; commit statuses that the host did not take: ${unwritten}`);
      return null;
    },
    again: () => continueAsNew<typeof analysisResults>(input),
  });
}
