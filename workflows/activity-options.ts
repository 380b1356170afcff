import {
  ActivityCancellationType,
  type ActivityOptions,
  type LocalActivityOptions,
  type RetryPolicy,
} from '@temporalio/workflow';

/** Named profiles of activity options; workflows use these and define none of their own. */

interface RetryOptions {
  first: NonNullable<RetryPolicy['initialInterval']>;
  longest: NonNullable<RetryPolicy['maximumInterval']>;
  times?: number;
  factor?: number;
}

/** Pauses from `first` to `longest`, each `factor` times as long as the one before; `times` attempts, or without end. */
const retry = ({ first, longest, times = Number.POSITIVE_INFINITY, factor = 2 }: RetryOptions) => ({
  initialInterval: first,
  maximumInterval: longest,
  backoffCoefficient: factor,
  maximumAttempts: times,
});
const ONCE = { maximumAttempts: 1 };

/** One pass of a sweep, which the sweeper repeats anyway: one attempt; a lost worker is detected by its heartbeat. */
export const REPEATED_BY_SWEEPER = {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '10 seconds',
  retry: ONCE,
} satisfies ActivityOptions;

/** Several chores, each of which may take four minutes; the sweeper repeats those, too. */
export const CHORES = { ...REPEATED_BY_SWEEPER, startToCloseTimeout: '1 hour' } satisfies ActivityOptions;

/**
 * A pump may send to slow receivers for minutes, so a lost worker is detected by its heartbeat; retried without limit,
 * because its work is in rows and each attempt continues where the last one stopped.
 */
export const PUMP = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '5 seconds',
  retry: retry({ first: '200 ms', longest: '10 seconds' }),
} satisfies ActivityOptions;

/**
 * Short work on our own database for which a caller waits: runs in the workflow's worker, without a round trip to the
 * server. Retried as long as the database is away; the caller has its own deadline. Longer pauses are timers of the
 * workflow: a worker that is told to stop waits for pauses of its own.
 */
export const LOCAL_DATABASE_WORK = {
  startToCloseTimeout: '1 minute',
  localRetryThreshold: '1 second',
  retry: retry({ first: '200 ms', longest: '10 seconds' }),
} satisfies LocalActivityOptions;

/** Work on the database or with another workflow that is not urgent: retried until it succeeds. */
export const UNTIL_DONE = {
  startToCloseTimeout: '1 minute',
  retry: retry({ first: '500 ms', longest: '30 seconds' }),
} satisfies ActivityOptions;

/**
 * A step of a report, on our own database: retried for about an hour, as long as the database may be away. What fails for
 * longer has a cause that a retry does not remove, and the report fails.
 */
export const REPORT_STEP = {
  ...LOCAL_DATABASE_WORK,
  retry: retry({ first: '200 ms', longest: '30 seconds', times: 120 }),
} satisfies LocalActivityOptions;

/** A call to another system, or git: bounded, retried a few times; the last failure fails the run. */
export const OUTSIDE_CALL = {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  retry: retry({ first: '1 second', longest: '1 minute', times: 5, factor: 3 }),
} satisfies ActivityOptions;

/** Options of a call to a tracker; a lost worker is detected by its heartbeat. */
export const TRACKER_CALL = { ...OUTSIDE_CALL, heartbeatTimeout: '5 seconds' } satisfies ActivityOptions;

/**
 * A question to a language model, its own retries included: long as long as heartbeats arrive. What the model fails at is a
 * result; only what a lost worker or an unavailable database interrupted is retried, with few attempts, because each costs.
 * A cancellation waits until the stream is ended and its cost is recorded.
 */
export const MODEL_CALL = {
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '5 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: retry({ first: '1 second', longest: '30 seconds', times: 4 }),
} satisfies ActivityOptions;

/** A call to another system that the caller can do without: given up after two attempts. */
export const BRIEF_OUTSIDE_CALL = {
  startToCloseTimeout: '25 seconds',
  retry: retry({ first: '1 second', longest: '1 minute', times: 2 }),
} satisfies ActivityOptions;

/**
 * A program that must not run twice: never retried, a lost worker is detected by its heartbeat, and a cancellation waits
 * until the program has ended. The program has its own time limit; the timeout here only bounds a worker that hangs.
 */
export const COMMAND = {
  startToCloseTimeout: '25 hours',
  heartbeatTimeout: '6 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: ONCE,
} satisfies ActivityOptions;

/** A command that one process runs: when that does not take the activity, it is gone, and the command with it. */
export const FOLLOW_COMMAND = { ...COMMAND, scheduleToStartTimeout: '20 seconds' } satisfies ActivityOptions;

/**
 * git over a network, and imports of whole histories: may take long as long as heartbeats arrive. A refusal by the
 * remote is a result; only what a lost worker or an unavailable database interrupted is retried.
 */
export const GIT_WORK = {
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '20 seconds',
  retry: retry({ first: '1 second', longest: '1 minute', times: 20 }),
} satisfies ActivityOptions;

/**
 * Checkout and analysis of a commit, which bound themselves: started again, a little later, when a worker was lost, which
 * its heartbeat shows. It may wait long for a worker that has room.
 */
export const ANALYSIS = {
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: retry({ first: '5 seconds', longest: '2 minutes', times: 4, factor: 3 }),
} satisfies ActivityOptions;

/**
 * A long read that writes one big file: started again when a worker was lost, which its heartbeat shows; with few
 * attempts, because repeated failures have a cause that a retry does not remove.
 */
export const LONG_READ = {
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '10 seconds',
  retry: retry({ first: '1 second', longest: '2 minutes', times: 6, factor: 3 }),
} satisfies ActivityOptions;

/**
 * Calls to an org that may take minutes, and the storing of what it gave: long as long as heartbeats arrive. What the org
 * refuses is a result; only what a lost worker or an unavailable database interrupted is retried.
 */
export const ORG_READ = {
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '10 seconds',
  retry: retry({ first: '1 second', longest: '1 minute', times: 20 }),
} satisfies ActivityOptions;

/**
 * A change of an org: long as long as heartbeats arrive. What the org refuses is a result; what passes (an org that is away, calls of the
 * day that are used up) is tried again for a quarter of an hour to an hour and a half. A cancellation waits until nothing
 * is under way.
 */
export const ORG_CHANGE = {
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: retry({ first: '1 second', longest: '1 minute', times: 20 }),
} satisfies ActivityOptions;

/**
 * One step of what a run does in an org: it is short, and may come again at any time. Retried for some twelve hours, as long
 * as the database may be away while the org goes on.
 */
export const ORG_STEP = {
  ...ORG_CHANGE,
  startToCloseTimeout: '30 minutes',
  retry: retry({ first: '1 second', longest: '5 minutes', times: 150 }),
} satisfies ActivityOptions;

/** The end of what an org does for a cancelled run: tried for some ten minutes, since the run ends as soon as that is known. */
export const ORG_CANCEL = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: retry({ first: '1 second', longest: '1 minute', times: 15 }),
} satisfies ActivityOptions;

/** What a run asks its org before its gates, and can do without: an org or worker that is away keeps nobody from approving. */
export const ORG_CHECK = { ...OUTSIDE_CALL, scheduleToCloseTimeout: '5 minutes' } satisfies ActivityOptions;

/** What a change of an org has begun must be undone, however long the org is away. */
export const ORG_UNDO = {
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '10 seconds',
  retry: retry({ first: '1 second', longest: '5 minutes' }),
} satisfies ActivityOptions;

/**
 * The allocation of a browser, which waits for a host with a free slot. The session is given up after 5 minutes by its row, not
 * by these limits; a lost host is detected by its heartbeat, and another one tries. A cancellation waits until nothing is
 * left behind.
 */
export const BROWSER_PROVISION = {
  scheduleToCloseTimeout: '6 minutes',
  heartbeatTimeout: '5 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: retry({ first: '500 ms', longest: '10 seconds' }),
} satisfies ActivityOptions;

/** The opening of an org for a host that waits for it, and tries again as a part of its own attempts. */
export const BROWSER_START_URL = {
  scheduleToCloseTimeout: '40 seconds',
  retry: ONCE,
} satisfies ActivityOptions;

/**
 * The watch over a browser that is allocated, for as long as that is. When the host does not take it, it is gone, and the
 * browser with it; after a lost heartbeat it is asked once more in that way.
 */
export const BROWSER_HOLD_ON_HOST = {
  scheduleToStartTimeout: '8 seconds',
  startToCloseTimeout: '70 minutes',
  heartbeatTimeout: '5 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: retry({ first: '200 ms', longest: '2 seconds' }),
} satisfies ActivityOptions;

/** The watch over a hosted browser: any worker can keep it, and another one goes on when one is lost. */
export const BROWSER_HOLD = {
  startToCloseTimeout: '70 minutes',
  heartbeatTimeout: '5 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: retry({ first: '500 ms', longest: '10 seconds' }),
} satisfies ActivityOptions;

/** The release of a browser, and the end of its recording: repeated until they are done, by whoever can do them. */
export const BROWSER_CLEAN_UP = {
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '10 seconds',
  retry: retry({ first: '500 ms', longest: '30 seconds' }),
} satisfies ActivityOptions;

/** The clean-up of a browser on the host itself, which counts as gone when it does not take it. */
export const BROWSER_CLEAN_UP_ON_HOST = {
  ...BROWSER_CLEAN_UP,
  scheduleToStartTimeout: '8 seconds',
} satisfies ActivityOptions;
