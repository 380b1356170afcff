import { setTimeout as sleep } from 'node:timers/promises';
import type { MetricsStore } from '../../domain/metrics/metrics-store.port.ts';
import { sampleLines } from '../../domain/metrics/sample-line-rules.ts';
import { createWindowStore, type UnsentWindow } from '../../domain/metrics/windows.queries.ts';
import { METRICS_LINGER_MS } from '../../workflows/metrics/metrics-lane.contract.ts';
import type { Deps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';

const BATCH_WINDOWS = 10_000;
/** The store shows new samples after seconds, so that there is no hurry; the fewer batches, the less work. */
const REST_MS = 1_000;
const POLL_MS = 250;
/** A pump ends after this, so that one which always has something to send still moves between workers. */
const PUMP_RUN_MS = 300_000;

/** What a pump came to, in windows. */
export interface MetricsReport {
  sent: number;
  /** It ended before all was sent. */
  isMoreDue: boolean;
}

export type MetricsActivities = ReturnType<typeof createMetricsActivities>;

/** The activity that sends metrics to the store. */
export function createMetricsActivities({ system, metricsStore }: Pick<Deps, 'system' | 'metricsStore'>) {
  const windows = createWindowStore(system);
  return {
    /** Sends changed windows until there have been none for a while; fails when the store is away. */
    pumpMetrics: (): Promise<MetricsReport> =>
      withHeartbeat(async (stop) => {
        let sent = 0;
        if (metricsStore === undefined) return { sent, isMoreDue: false };
        const problem = await metricsStore.problem();
        if (problem !== undefined) throw new Error(problem);
        const endAt = performance.now() + PUMP_RUN_MS;
        let lastSentAt = performance.now();
        while (!stop.aborted && performance.now() < endAt) {
          const batch = await windows.unsent(BATCH_WINDOWS);
          await sendAll(metricsStore, batch);
          if (batch.length > 0) {
            await windows.markSent(batch);
            sent += batch.length;
            lastSentAt = performance.now();
          }
          if (performance.now() - lastSentAt > METRICS_LINGER_MS) return { sent, isMoreDue: false };
          const waitMs = batch.length === 0 ? POLL_MS : REST_MS;
          if (batch.length < BATCH_WINDOWS) await sleep(waitMs, undefined, { signal: stop }).catch(() => undefined);
        }
        return { sent, isMoreDue: true };
      }),
  };
}

/** By tenant, as the store takes the tenant with the request. */
async function sendAll(store: MetricsStore, batch: readonly UnsentWindow[]): Promise<void> {
  for (const [tenantId, windows] of Map.groupBy(batch, (window) => window.tenantId))
    await store.write(tenantId, windows.map(sampleLines).join(''));
}
