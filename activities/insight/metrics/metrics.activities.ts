import { setTimeout as sleep } from 'node:timers/promises';
import { createWindowStore } from '../../../domain/insight/metrics/window-store.queries.ts';
import { METRICS_LINGER_MS } from '../../../workflows/insight/metrics/metrics-lane.contract.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { createWindowSender } from './window-sender.ts';

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
export function createMetricsActivities({ system, metricsStore, log }: Pick<Deps, 'system' | 'metricsStore' | 'log'>) {
  const windows = createWindowStore(system);
  const sender = metricsStore && createWindowSender({ windows, store: metricsStore, log });
  return {
    /** Sends changed windows until there have been none for a while; fails when the store is away. */
    pumpMetrics: (): Promise<MetricsReport> =>
      withHeartbeat(async (stop) => {
        let sent = 0;
        if (metricsStore === undefined || sender === undefined) return { sent, isMoreDue: false };
        const problem = await metricsStore.problem();
        if (problem !== undefined) throw new Error(problem);
        const endAt = performance.now() + PUMP_RUN_MS;
        let lastSentAt = performance.now();
        while (!stop.aborted && performance.now() < endAt) {
          const round = await sender.send();
          if (round.sent > 0) {
            sent += round.sent;
            lastSentAt = performance.now();
          }
          if (performance.now() - lastSentAt > METRICS_LINGER_MS) {
            // A store that has died since may have lost what it took: then this fails, and goes on when it is back.
            await sender.checkStart();
            return { sent, isMoreDue: await windows.hasUnsent() };
          }
          if (!round.isMoreDue)
            await sleep(round.sent === 0 ? POLL_MS : REST_MS, undefined, { signal: stop }).catch(() => undefined);
        }
        return { sent, isMoreDue: true };
      }),
  };
}
