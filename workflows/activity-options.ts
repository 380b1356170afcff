import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';

/** Named profiles of activity options; a workflow picks one and invents none. */

/** A sweep or a clean-up that its schedule repeats anyway: tried once, bounded, so that runs do not pile up. */
export const REPEATED_BY_SCHEDULE = {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { maximumAttempts: 1 },
} satisfies ActivityOptions;

/**
 * A pump works for minutes on what may be slow receivers, so only its heartbeat tells a lost worker; it is repeated
 * for ever, because its work lies in rows and it takes up where the last one was.
 */
export const LANE_PUMP = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '10 seconds' },
} satisfies ActivityOptions;

/**
 * Short work on our own database whose caller waits for it: runs in the worker that has the workflow, without a way
 * through the server. Repeated as long as the database is away; the caller has a deadline of its own.
 */
export const LOCAL_DATABASE_WORK = {
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '10 seconds' },
} satisfies LocalActivityOptions;
