import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  WithStartWorkflowOperation,
  type WorkflowExecutionStatusName,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Logger } from 'pino';
import type { ReportAway } from '../domain/kernel/system/outages.ts';
import { EngineUnavailableError, type Launch, type WorkflowState } from './launch.ts';
import { GRPC, hasGrpcStatus, isEngineAway, launchError } from './temporal-errors.ts';
import { temporalSchedules } from './temporal-schedules.ts';
import { startOptions } from './temporal-start.ts';
import { boundedId } from './workflow-id.ts';

const CALL_TIMEOUT_MS = 5_000;
const LIST_TIMEOUT_MS = 60_000;
/** Background starts: so many are in flight at once, and at most so many wait in memory. */
const STARTS_IN_FLIGHT = 32;
const STARTS_WAITING_MAX = 10_000;
const CLOSING_RETRY_MS = 20;

const STATES: Record<WorkflowExecutionStatusName, Exclude<WorkflowState, 'absent'>> = {
  RUNNING: 'running',
  PAUSED: 'running',
  // Another execution of it was about to begin.
  CONTINUED_AS_NEW: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
  UNSPECIFIED: 'unknown',
  UNKNOWN: 'unknown',
};

export interface LaunchOptions {
  /** Put before the name of each task queue, so that several installations share one namespace. */
  queuePrefix: string;
  log: Pick<Logger, 'warn' | 'error'>;
  /** Told each time that the engine is found away. */
  onAway?: ReportAway;
  /** How long a call waits for the engine's answer. */
  callTimeoutMs?: number;
}

export function temporalLaunch(
  client: Client,
  { queuePrefix, log, onAway, callTimeoutMs = CALL_TIMEOUT_MS }: LaunchOptions,
): Launch {
  const idOf: Launch['idOf'] = (contract, input) => boundedId(queuePrefix, contract.workflowId(input));

  const { within, withRunning } = createCalls(client, callTimeoutMs, onAway);
  const onError = (error: unknown) => {
    if (error instanceof EngineUnavailableError)
      log.warn({ err: error }, 'a workflow was not started or signalled; the sweeper repeats it');
    else log.error({ err: error }, 'a workflow cannot be started or signalled');
  };

  const signalWithStart: Launch['signalWithStart'] = async (contract, input, signal) => {
    await within(callTimeoutMs, () =>
      client.workflow.signalWithStart(contract.workflow, {
        ...startOptions(contract, input, queuePrefix),
        signal,
      }),
    );
  };

  const signalling = signallingQuietly(onError);
  const starts = startQueue(onError);

  const start: Launch['start'] = async (contract, input) => {
    await within(callTimeoutMs, async () => {
      try {
        await client.workflow.start(contract.workflow, {
          ...startOptions(contract, input, queuePrefix),
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    });
  };

  const schedules = temporalSchedules(client, queuePrefix);
  return {
    idOf,
    start,

    startInBackground: (contract, input) => starts.add(() => start(contract, input)),

    async cancel(contract, input) {
      await withRunning(idOf(contract, input), (handle) => handle.cancel());
    },

    async stateOf(contract, input) {
      const description = await withRunning(idOf(contract, input), (handle) => handle.describe());
      return description ? STATES[description.status.name] : 'absent';
    },

    async signal(contract, input, definition) {
      await withRunning(idOf(contract, input), (handle) => handle.signal(definition));
    },

    signalWithStart,

    signalWithStartInBackground(contract, input, signal, quietMs) {
      signalling(idOf(contract, input), quietMs, () => signalWithStart(contract, input, signal));
    },

    async updateWithStart(contract, input, update, { args, timeoutMs }) {
      const attempt = () => {
        const startWorkflowOperation = new WithStartWorkflowOperation(contract.workflow, {
          ...startOptions(contract, input, queuePrefix),
          workflowIdConflictPolicy: 'USE_EXISTING',
        });
        // Known even when the update fails; unobserved, its rejection would end the process.
        startWorkflowOperation.workflowHandle().catch(() => undefined);
        return client.workflow.executeUpdateWithStart(update, { args, startWorkflowOperation });
      };
      return within(timeoutMs, () => retriedWhileClosing(attempt, timeoutMs));
    },

    setSchedule: (contract, input, time) => within(callTimeoutMs, () => schedules.set(contract, input, time)),
    scheduleIds: () => within(LIST_TIMEOUT_MS, () => schedules.ids()),
    deleteSchedule: (contract, input) => within(callTimeoutMs, () => schedules.delete(contract, input)),
  };
}

/**
 * The execution closed, or continued as new, while the update was on its way: the next one takes it. The server reports
 * the task that was about to continue as new as failed (FAILED_PRECONDITION) when an update arrived meanwhile.
 */
const isClosing = (error: unknown): boolean =>
  error instanceof WorkflowNotFoundError || hasGrpcStatus(error, GRPC.ABORTED, GRPC.FAILED_PRECONDITION);

/** Calls of the engine, each with a time-out. */
function createCalls(client: Client, callTimeoutMs: number, onAway: ReportAway | undefined) {
  const within = async <T>(timeoutMs: number, call: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + timeoutMs, call);
    } catch (error) {
      if (isEngineAway(error)) onAway?.(error);
      throw launchError(error);
    }
  };

  /** Undefined when there is no such workflow, or it is not running. */
  const withRunning = async <Result>(
    id: string,
    call: (handle: WorkflowHandle) => Promise<Result>,
  ): Promise<Result | undefined> =>
    within(callTimeoutMs, async () => {
      try {
        return await call(client.workflow.getHandle(id));
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    });
  return { within, withRunning };
}

/** Starts in the background, a few at once. */
function startQueue(onError: (error: unknown) => void) {
  const waiting: (() => Promise<void>)[] = [];
  let inFlight = 0;
  const startNext = async () => {
    inFlight++;
    for (let next = waiting.shift(); next; next = waiting.shift()) await next().catch(onError);
    inFlight--;
  };
  return {
    add(start: () => Promise<void>): void {
      if (waiting.length >= STARTS_WAITING_MAX) {
        onError(new EngineUnavailableError('Too many workflows are waiting to be started'));
        return;
      }
      waiting.push(start);
      if (inFlight < STARTS_IN_FLIGHT) void startNext();
    },
  };
}

/** Signals a workflow at once, and when it was to be signalled again meanwhile once more after a quiet time. */
function signallingQuietly(onError: (error: unknown) => void) {
  const signalling = new Map<string, { again: boolean }>();
  const signalUntilQuiet = async (id: string, quietMs: number, signalOnce: () => Promise<unknown>) => {
    const state = { again: true };
    signalling.set(id, state);
    while (state.again) {
      state.again = false;
      await signalOnce().catch(onError);
      // Spread, or workflows that were signalled together would all be signalled together again.
      await sleep(quietMs * (1 - Math.random() / 2), undefined, { ref: false });
    }
    signalling.delete(id);
  };
  return (id: string, quietMs: number, signalOnce: () => Promise<unknown>): void => {
    const state = signalling.get(id);
    if (state) state.again = true;
    else void signalUntilQuiet(id, quietMs, signalOnce);
  };
}

async function retriedWhileClosing<Result>(attempt: () => Promise<Result>, timeoutMs: number): Promise<Result> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isClosing(error) || Date.now() >= deadline) throw error;
      await sleep(CLOSING_RETRY_MS);
    }
  }
}
