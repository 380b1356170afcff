import { continueAsNew, proxyActivities, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { NightlyAnalysisActivities } from '../../../activities/insight/code-analysis/nightly-analysis.activities.ts';
import { UNTIL_DONE } from '../../activity-options.ts';
import type { NightlyAnalysisInput } from './nightly-analysis.contract.ts';

const { startNightlyAnalyses } = proxyActivities<NightlyAnalysisActivities>(UNTIL_DONE);

const PAUSE_MS = 15_000;
/** What had no turn by then has one in the next night. */
const NIGHT_MS = 22 * 3_600_000;

/**
 * Has the branches of all tenants analysed that were analysed before: a new analysis begins at each look while few are
 * under way. A schedule starts it each night.
 */
export async function nightlyAnalysis({
  startedAt = workflowInfo().startTime.getTime(),
  night = new Date(startedAt).toISOString().slice(0, 10),
  pauseMs = PAUSE_MS,
}: NightlyAnalysisInput): Promise<void> {
  while (Date.now() - startedAt < NIGHT_MS) {
    const { started, open, left } = await startNightlyAnalyses({ night });
    setCurrentDetails(
      `- Night: ${night}\n- Under way: ${open}\n- Started now: ${started}\n- Branches are left: ${left}`,
    );
    if (!left) return;
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof nightlyAnalysis>({ startedAt, night, pauseMs });
    await sleep(pauseMs, { summary: 'until the next analysis may begin' });
  }
}
