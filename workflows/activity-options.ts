import type { ActivityOptions } from '@temporalio/workflow';

/** Named profiles of activity options; a workflow picks one and invents none. */

/** A statement or two on our own database: fails only when the database is away, and then is worth any wait. */
export const DATABASE_WORK = {
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '10 seconds' },
} satisfies ActivityOptions;

/** A sweep or a clean-up that its schedule repeats anyway: tried once, bounded, so that runs do not pile up. */
export const REPEATED_BY_SCHEDULE = {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { maximumAttempts: 1 },
} satisfies ActivityOptions;
