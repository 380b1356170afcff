import { defineContract, defineSignal, type Launch } from '../../launch.ts';
import { SYSTEM_QUEUE } from '../../queues.contract.ts';

/** There are windows that the store does not have. */
export const metricsSignal = defineSignal('metrics');

export interface MetricsLane {
  /** Windows that were sent before it continued as new. */
  sent?: number;
}

export const metricsLaneContract = defineContract('metricsLane', {
  taskQueue: SYSTEM_QUEUE,
  workflowId: () => 'system/metrics-lane',
  summary: () => 'Metrics on their way to the store',
  searchAttributes: () => ({ Tenant: 'system', TaskType: 'metrics-lane' }),
});

/** How long a pump looks for more after it last sent something. */
export const METRICS_LINGER_MS = 30_000;
/** A lane that was signalled stays hot for `METRICS_LINGER_MS`, so that further signals within this time are not needed. */
const QUIET_MS = 20_000;

/** Signals the lane after a commit, without waiting; a lost signal is recovered by the sweeper. */
export const signalMetricsLane = (launch: Launch): void =>
  launch.signalWithStartInBackground(metricsLaneContract, {}, metricsSignal, QUIET_MS);
