import { sweepActivity, type SweepReport } from '../../workflows/system/sweeper.contract.ts';
import type { Deps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { Sweep } from './define-sweep.ts';
import { runSweep } from './run-sweep.ts';
import { createSweepMetrics } from './sweep-metrics.ts';

/** One activity per sweep, so that histories and the Temporal UI show which one failed. */
export function createSweepActivities(
  deps: Deps,
  sweeps: readonly Sweep[],
): Record<string, () => Promise<SweepReport>> {
  const metrics = createSweepMetrics(deps.metrics);
  const activityOf = (sweep: Sweep) => (): Promise<SweepReport> =>
    withHeartbeat(async (signal) => {
      const began = performance.now();
      try {
        const report = await runSweep(deps, sweep, signal);
        metrics.record(sweep.name, report, (performance.now() - began) / 1_000);
        return report;
      } catch (error) {
        metrics.recordError(sweep.name);
        deps.log.error({ err: error, sweep: sweep.name }, 'a sweep failed');
        throw error;
      }
    });
  return Object.fromEntries(sweeps.map((sweep) => [sweepActivity(sweep.name), activityOf(sweep)]));
}
