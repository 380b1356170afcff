import { type Kysely, sql } from 'kysely';
import { causes, isDatabaseAway } from '../domain/kernel/data/database-trouble.ts';
import { MetricsStoreAwayError, type MetricsStore } from '../domain/insight/metrics/metrics-store.port.ts';
import type { ObjectStore } from '../domain/kernel/objects/object-store.port.ts';
import type { Dependency } from '../domain/kernel/system/outages.ts';

export const databaseDependency = (db: Kysely<never>): Dependency => ({
  name: 'postgresql',
  title: 'PostgreSQL',
  meanwhile: 'requests get 503, and work waits',
  check: () => sql`select 1`.execute(db),
  mayExplain: (error) => causes(error).some(isDatabaseAway),
});

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

/** No object has this key, as those of tenants have more segments. */
const NO_OBJECT = 'outage-check';

/** Of a store over the network. */
export const objectsDependency = (store: ObjectStore, isStoreAway: (error: unknown) => boolean): Dependency => ({
  name: 'objects',
  title: 'The object store',
  meanwhile: 'files cannot be stored or read, and exports wait',
  isOptional: true,
  check: () => store.sizeOf(NO_OBJECT),
  mayExplain: (error) => causes(error).some(isStoreAway),
});
