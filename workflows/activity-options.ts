import { ActivityCancellationType, type ActivityOptions, type LocalActivityOptions } from '@temporalio/workflow';

/** Named profiles of activity options; a workflow picks one and invents none. */

/** One pass of a sweep, which the sweeper repeats anyway: tried once, and only its heartbeat tells a lost worker. */
export const REPEATED_BY_SWEEPER = {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '10 seconds',
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

/** Work on the database or on another workflow that may wait for a while: repeated until it is done. */
export const UNTIL_DONE = {
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' },
} satisfies ActivityOptions;

/** A call of another system, or git: bounded, repeated a few times; what stays undone is the run's failure. */
export const OUTSIDE_CALL = {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 3, maximumInterval: '1 minute', maximumAttempts: 5 },
} satisfies ActivityOptions;

/** A call of another system without which the caller goes on: what did not succeed twice is given up. */
export const BRIEF_OUTSIDE_CALL = {
  startToCloseTimeout: '25 seconds',
  retry: { initialInterval: '1 second', maximumAttempts: 2 },
} satisfies ActivityOptions;

/**
 * A program that nobody may run twice: it is never repeated, its heartbeat tells a lost worker, and a cancellation
 * waits until it has ended. Its time limit is its own; the day only bounds a worker that forgot it.
 */
export const COMMAND = {
  startToCloseTimeout: '25 hours',
  heartbeatTimeout: '6 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { maximumAttempts: 1 },
} satisfies ActivityOptions;

/**
 * git over a network, and imports of whole histories: may take long while heartbeats tell that it lives. What the
 * remote refuses is a result; repeated is only what a lost worker or an absent database broke off.
 */
export const GIT_WORK = {
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute', maximumAttempts: 20 },
} satisfies ActivityOptions;

/**
 * A long read that writes one big file: begun anew wherever a worker was lost, which only its heartbeat tells; a few
 * times, because what fails as often fails for a reason.
 */
export const LONG_READ = {
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 3, maximumInterval: '2 minutes', maximumAttempts: 6 },
} satisfies ActivityOptions;
