import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { MetricsActivities } from '../../../activities/insight/metrics/metrics.activities.ts';
import { PUMP } from '../../activity-options.ts';
import { runLane } from '../../lane.ts';
import { type MetricsLane, metricsSignal } from './metrics-lane.contract.ts';

const { pumpMetrics } = proxyActivities<MetricsActivities>(PUMP);

/** Runs while there are metrics for the store. */
export async function metricsLane({ sent = 0 }: MetricsLane): Promise<void> {
  await runLane({
    signal: metricsSignal,
    async pump() {
      setCurrentDetails(`Sending; ${sent} windows sent before`);
      const report = await pumpMetrics();
      sent += report.sent;
      setCurrentDetails(`${sent} windows sent`);
      return report.isMoreDue ? 0 : null;
    },
    again: () => continueAsNew<typeof metricsLane>({ sent }),
  });
}
