import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { SweepReport } from '../../../workflows/kernel/system/sweeper.contract.ts';

export interface SweepMetrics {
  record: (sweep: string, report: SweepReport, seconds: number) => void;
  /** A pass that failed as a whole. */
  recordError: (sweep: string) => void;
}

/** What the sweeps of this process came to; each pass runs in one of the processes. */
export function createSweepMetrics(registry: Registry): SweepMetrics {
  const options = (name: string, help: string) => ({
    name: `quayside_sweep_${name}`,
    help,
    labelNames: ['sweep'] as const,
    registers: [registry],
  });
  const found = new Counter(options('found_total', 'Lost work, or expired rows, that a sweep found'));
  const handled = new Counter(options('handled_total', 'Rows found that were executed'));
  const failed = new Counter(options('failed_total', 'Rows that failed; each is tried again later'));
  const errors = new Counter(options('errors_total', 'Passes that failed as a whole'));
  const backedOff = new Gauge(options('backed_off', 'Rows left alone by the last pass because they failed before'));
  const duration = new Histogram({
    ...options('duration_seconds', 'Time of one pass'),
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300],
  });
  return {
    record(sweep, report, seconds) {
      found.inc({ sweep }, report.found);
      handled.inc({ sweep }, report.handled);
      failed.inc({ sweep }, report.failed);
      backedOff.set({ sweep }, report.backedOff);
      duration.observe({ sweep }, seconds);
    },
    recordError: (sweep) => errors.inc({ sweep }),
  };
}
