import { MetricsStoreAwayError, type MetricsStore } from '../../../domain/insight/metrics/metrics-store.port.ts';
import { causes } from '../../../domain/kernel/data/database-trouble.ts';
import type { Dependency } from '../../../domain/kernel/system/outages.ts';

/** What comes for it is kept, and queries wait until it is there. */
export const metricsDependency = (store: MetricsStore | undefined): Dependency => ({
  name: 'metrics',
  title: 'The metrics store',
  meanwhile: 'metrics are kept for it, and queries of metrics get 503',
  isOptional: true,
  async check() {
    if (!store) throw new Error('METRICS_URL names no metrics store');
    await store.check();
  },
  mayExplain: (error) => causes(error).some((cause) => cause instanceof MetricsStoreAwayError),
});
