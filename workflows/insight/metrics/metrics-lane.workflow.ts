import { continueAsNew, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { MetricsActivities } from '../../../activities/insight/metrics/metrics.activities.ts';
import { LANE_PUMP } from '../../activity-options.ts';
import { type MetricsLane, metricsSignal } from './metrics-lane.contract.ts';

const { pumpMetrics } = proxyActivities<MetricsActivities>(LANE_PUMP);

/** Runs while there are metrics for the store, then completes; a signal starts it again. */
export async function metricsLane({ sent = 0 }: MetricsLane): Promise<void> {
  let isSignalled = false;
  setHandler(metricsSignal, () => {
    isSignalled = true;
  });
  for (;;) {
    isSignalled = false;
    setCurrentDetails(`Sending; ${sent} windows sent before`);
    const report = await pumpMetrics();
    sent += report.sent;
    setCurrentDetails(`${sent} windows sent`);
    if (!isSignalled && !report.isMoreDue) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof metricsLane>({ sent });
  }
}
