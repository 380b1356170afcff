import { eachAtOnce } from '../../../domain/kernel/shared/at-once-rules.ts';
import { backedOffKeys } from '../../../domain/kernel/system/sweep-failures.queries.ts';
import {
  sweepActivity,
  type SweepReport,
  type SweepResults,
  type SweepsActivities,
} from '../../../workflows/kernel/system/sweeper.contract.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import type { Sweep } from './define-sweep.ts';
import { lookForWork, runSweep } from './run-sweep.ts';
import { createSweepMetrics } from './sweep-metrics.ts';

/** Sweeps that look, or chores that run, at once: few, since nobody waits for them. */
const CONCURRENCY = 3;

/**
 * One activity that looks which sweeps have work, one for chores, and one per sweep for its work, so that histories and
 * the Temporal UI show what was found and which failed.
 */
export function createSweepActivities(
  deps: Deps,
  sweeps: readonly Sweep[],
): SweepsActivities & Record<string, (names: string[]) => Promise<SweepReport | SweepResults>> {
  const metrics = createSweepMetrics(deps.metrics);
  const byName = new Map(sweeps.map((sweep) => [sweep.name, sweep]));

  const measured = <Report extends SweepReport | undefined>(sweep: Sweep, pass: () => Promise<Report>) =>
    measuredBy(metrics, sweep, pass);

  /** Some sweeps at once, none of which keeps another from its turn. */
  async function together(
    names: readonly string[],
    signal: AbortSignal,
    pass: (sweep: Sweep) => Promise<SweepReport | undefined>,
  ): Promise<SweepResults> {
    const results: SweepResults = { reports: {}, errors: {}, withWork: [] };
    const run = async (name: string) => {
      const sweep = byName.get(name);
      try {
        if (!sweep) throw new Error('This build has no such sweep');
        const report = await measured(sweep, () => pass(sweep));
        if (report) results.reports[name] = report;
        else results.withWork.push(name);
      } catch (error) {
        deps.log.error({ err: error, sweep: name }, 'a sweep failed');
        results.errors[name] = error instanceof Error ? error.message : String(error);
      }
    };
    await eachAtOnce(names, CONCURRENCY, run, { isOver: () => signal.aborted });
    return results;
  }

  return {
    ...Object.fromEntries(
      sweeps.map((sweep) => [
        sweepActivity(sweep.name),
        () => withHeartbeat((signal) => measured(sweep, () => runSweep(deps, sweep, signal))),
      ]),
    ),
    'sweeps/look': (names) =>
      withHeartbeat(async (signal) => {
        const left = await backedOffKeys(deps.system, names);
        return together(names, signal, (sweep) => lookForWork(deps, sweep, left(sweep.name)));
      }),
    'sweeps/chores': (names) =>
      withHeartbeat((signal) => together(names, signal, (sweep) => runSweep(deps, sweep, signal))),
  };
}

/** Measures a pass; what gives no report is none yet. */
async function measuredBy<Report extends SweepReport | undefined>(
  metrics: ReturnType<typeof createSweepMetrics>,
  { name }: Sweep,
  pass: () => Promise<Report>,
): Promise<Report> {
  const began = performance.now();
  try {
    const report = await pass();
    if (report) metrics.record(name, report, (performance.now() - began) / 1_000);
    return report;
  } catch (error) {
    metrics.recordError(name);
    throw error;
  }
}
