import { AI_USAGE_DAYS_MAX } from '../../../domain/insight/metrics/ai-usage-rules.ts';
import { createWindowStore } from '../../../domain/insight/metrics/window-store.queries.ts';
import { metricsLaneContract, metricsSignal } from '../../../workflows/insight/metrics/metrics-lane.contract.ts';
import { defineChore, defineSweep } from '../../kernel/system/define-sweep.ts';

/** Less than a chore may take. */
const PURGE_MS = 180_000;

/** Events may be 48 hours old. */
const KEPT_HOURS = 49;

/** Wakes the lane whose signal was lost. */
export const metricsLaneSweep = defineSweep({
  name: 'metrics-lane',
  isRoutine: true,
  due: async ({ system, metricsStore }) =>
    metricsStore !== undefined && (await createWindowStore(system).hasUnsent()) ? ['metrics'] : [],
  key: (only) => only,
  handle: ({ launch }) => launch.signalWithStart(metricsLaneContract, {}, metricsSignal),
});

export const expiredMetricsChore = defineChore({
  name: 'expired-metrics',
  run: ({ system }) => createWindowStore(system).purge(KEPT_HOURS, AI_USAGE_DAYS_MAX + 1, PURGE_MS),
});
