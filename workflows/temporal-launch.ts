import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { DomainError, type ErrorCode } from '../domain/shared/errors.ts';
import { EngineUnavailableError, type Launch } from './launch.ts';
import { temporalSchedules } from './temporal-schedules.ts';
import { startOptions } from './temporal-start.ts';

const CALL_TIMEOUT_MS = 5_000;
/** Starts that nobody waits for: so many are under way at once, and so many wait in memory at most. */
const STARTS_AT_ONCE = 32;
const STARTS_WAITING_MAX = 10_000;

export interface LaunchOptions {
  /** Put before the name of each task queue, so that several installations share one namespace. */
  queuePrefix: string;
  /** Told of wakes that failed. */
  onError: (error: unknown) => void;
}

export function temporalLaunch(client: Client, { queuePrefix, onError }: LaunchOptions): Launch {
  const waking = new Map<string, { again: boolean }>();

  const within = async <T>(timeoutMs: number, call: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + timeoutMs, call);
    } catch (error) {
      throw asUnavailable(error);
    }
  };

  const signal: Launch['signal'] = async (contract, input, name) => {
    const signalWithStart = () =>
      client.workflow.signalWithStart(contract.workflow, {
        ...startOptions(contract, input, queuePrefix),
        signal: name,
      });
    await within(CALL_TIMEOUT_MS, signalWithStart);
  };

  const wakeUntilQuiet = async (id: string, quietMs: number, wakeOnce: () => Promise<unknown>) => {
    const state = { again: true };
    waking.set(id, state);
    while (state.again) {
      state.again = false;
      await wakeOnce().catch(onError);
      // Spread, or those woken together would all be woken together again.
      await sleep(quietMs * (1 - Math.random() / 2), undefined, { ref: false });
    }
    waking.delete(id);
  };

  const start: Launch['start'] = async (contract, input) => {
    await within(CALL_TIMEOUT_MS, async () => {
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

  /** Undefined when there is no such workflow, or none that runs. */
  const withRunning = async <Result>(
    id: string,
    call: (handle: WorkflowHandle) => Promise<Result>,
  ): Promise<Result | undefined> =>
    within(CALL_TIMEOUT_MS, async () => {
      try {
        return await call(client.workflow.getHandle(id));
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    });

  const schedules = temporalSchedules(client, queuePrefix);
  const startsWaiting: (() => Promise<void>)[] = [];
  let startsUnderWay = 0;
  const startNext = async () => {
    startsUnderWay++;
    for (let next = startsWaiting.shift(); next; next = startsWaiting.shift()) await next().catch(onError);
    startsUnderWay--;
  };

  return {
    start,

    begin(contract, input) {
      if (startsWaiting.length >= STARTS_WAITING_MAX) {
        onError(new EngineUnavailableError('Too many workflows wait for their start'));
        return;
      }
      startsWaiting.push(() => start(contract, input));
      if (startsUnderWay < STARTS_AT_ONCE) void startNext();
    },

    async cancel(contract, input) {
      await withRunning(contract.workflowId(input), (handle) => handle.cancel());
    },

    async isRunning(contract, input) {
      const description = await withRunning(contract.workflowId(input), (handle) => handle.describe());
      return description?.status.name === 'RUNNING';
    },

    async tell(contract, input, name) {
      await withRunning(contract.workflowId(input), (handle) => handle.signal(name));
    },

    schedule: (contract, input, time) => within(CALL_TIMEOUT_MS, () => schedules.schedule(contract, input, time)),
    unschedule: (contract, input) => within(CALL_TIMEOUT_MS, () => schedules.unschedule(contract, input)),

    signal,

    wake(contract, input, name, quietMs) {
      const id = contract.workflowId(input);
      const state = waking.get(id);
      if (state) state.again = true;
      else void wakeUntilQuiet(id, quietMs, () => signal(contract, input, name));
    },

    async ask(contract, input, { update }, argument, timeoutMs) {
      const startWorkflowOperation = new WithStartWorkflowOperation(contract.workflow, {
        ...startOptions(contract, input, queuePrefix),
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      // Known even when the update fails; unobserved, its rejection would end the process.
      startWorkflowOperation.workflowHandle().catch(() => undefined);
      return within(timeoutMs, () =>
        client.workflow.executeUpdateWithStart(update, { args: [argument], startWorkflowOperation }),
      );
    },
  };
}

/** A refusal by the workflow keeps its code; everything else means that the engine gave no answer. */
function asUnavailable(error: unknown): Error {
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const { type, message } = error.cause;
    if (type !== undefined && type !== null && type !== 'Error') return new DomainError(type as ErrorCode, message);
  }
  return new EngineUnavailableError('The workflow engine did not answer', { cause: error });
}
