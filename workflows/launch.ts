import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';
import type * as workflows from './index.ts';

export type WorkflowName = keyof typeof workflows;
/** What the workflow function of this name takes. */
export type InputOf<Name extends WorkflowName> = Parameters<(typeof workflows)[Name]>[0];

/** Keywords by which operators find workflows; workers create them in the namespace. */
export const SEARCH_ATTRIBUTES = ['Tenant', 'Repository', 'TaskType', 'EntityId'] as const;
type SearchAttributes = { Tenant: string } & { [Name in (typeof SEARCH_ATTRIBUTES)[number]]?: string };

/** How a workflow is named, queued and identified: data shared by whoever starts it and whoever runs it. */
export interface WorkflowContract<Input> {
  workflow: WorkflowName;
  taskQueue: string;
  /**
   * `{tenant slug}/{kind}/{readable key}`, of what never changes in the life of the workflow; names by `idSegment` or
   * `idPath`. `Launch.idOf` gives the id that Temporal knows.
   */
  workflowId: (input: Input) => string;
  /** One line for an operator who reads the list of workflows. */
  summary: (input: Input) => string;
  /** What the page of the workflow shows beside that, by label; the tenant and the repository are always shown. */
  details?: (input: Input) => Record<string, string | null | undefined>;
  /** Whether it ends within minutes, and so on the build of the workers on which it began. */
  isPinned?: (input: Input) => boolean;
  /** Values of the search attributes by which operators find the workflow. */
  searchAttributes: (input: Input) => SearchAttributes;
}

/** The contract of a workflow that `index.ts` exports under this name; its input is what that function takes. */
export const defineContract = <Name extends WorkflowName>(
  workflow: Name,
  contract: Omit<WorkflowContract<InputOf<Name>>, 'workflow'>,
): WorkflowContract<InputOf<Name>> => ({ workflow, ...contract });

// The SDK's definitions, made without its workflow package, which processes that only send messages do not load.
export const defineSignal = <Args extends unknown[] = []>(name: string): SignalDefinition<Args> =>
  ({ type: 'signal', name }) as SignalDefinition<Args>;
export const defineUpdate = <Result, Args extends unknown[] = []>(name: string): UpdateDefinition<Result, Args> =>
  ({ type: 'update', name }) as UpdateDefinition<Result, Args>;
export const defineQuery = <Result, Args extends unknown[] = []>(name: string): QueryDefinition<Result, Args> =>
  ({ type: 'query', name }) as QueryDefinition<Result, Args>;

/** The engine did not answer in time, or is away. What was requested may or may not have been done. */
export class EngineUnavailableError extends Error {}

/**
 * `running`; else how it ended; `absent`: the engine knows no such workflow, because none was started, it was removed
 * long after its end, or the engine has another store than when it was started.
 */
export type WorkflowState = 'absent' | 'running' | EndedState;
export type EndedState = 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out' | 'unknown';

export interface ScheduleTime {
  /** Five fields, as in crontab(5). */
  cron: string;
  /** The IANA name of the time zone in which they are read. */
  timezone: string;
  isPaused: boolean;
}

/**
 * Starts workflows and sends them messages. Every promise rejects with `EngineUnavailableError` when the engine cannot be
 * reached or does not answer in time, and with what it is for every other error.
 */
export interface Launch {
  /** The id of a workflow in Temporal. */
  idOf<Input>(contract: WorkflowContract<Input>, input: Input): string;
  /** Starts a workflow once: a second start of the same id, running or closed, changes nothing. */
  start<Input>(contract: WorkflowContract<Input>, input: Input): Promise<void>;
  /**
   * Starts a workflow as `start` does, without waiting. The number of concurrent starts is bounded, and so is their
   * queue; a start that fails, or finds the queue full, is logged, and the sweeper starts its row again.
   */
  startInBackground<Input>(contract: WorkflowContract<Input>, input: Input): void;
  /** Requests cancellation; does nothing when the workflow is not running. */
  cancel<Input>(contract: WorkflowContract<Input>, input: Input): Promise<void>;
  /** What the engine knows of the workflow of this id that was started last. */
  stateOf<Input>(contract: WorkflowContract<Input>, input: Input): Promise<WorkflowState>;
  /** Starts a workflow each time that the schedule is due, from now on at these times; none while it is paused. */
  setSchedule<Input>(contract: WorkflowContract<Input>, input: Input, time: ScheduleTime): Promise<void>;
  /** Deletes what `setSchedule` made; does nothing when there is none. */
  deleteSchedule<Input>(contract: WorkflowContract<Input>, input: Input): Promise<void>;
  /** The ids of the schedules of the namespace; those that were made in the last seconds may be missing. */
  scheduleIds(): Promise<Set<string>>;
  /** Signals a running workflow; does nothing when it is not running. */
  signal<Input>(contract: WorkflowContract<Input>, input: Input, signal: SignalDefinition): Promise<void>;
  /** Signals a workflow, starting it first when it is not running. */
  signalWithStart<Input>(contract: WorkflowContract<Input>, input: Input, signal: SignalDefinition): Promise<void>;
  /**
   * Signals an entity workflow as `signalWithStart` does, without waiting. At most one signal to a workflow is being
   * sent, and those requested within the next `quietMs` are coalesced into one more; failures are logged.
   */
  signalWithStartInBackground<Input>(
    contract: WorkflowContract<Input>,
    input: Input,
    signal: SignalDefinition,
    quietMs: number,
  ): void;
  /**
   * Sends an update to an entity workflow, starting it first when it is not running, and returns its result.
   * Rejects with the `DomainError` by which the workflow refused.
   */
  updateWithStart<Input, Args extends unknown[], Result>(
    contract: WorkflowContract<Input>,
    input: Input,
    update: UpdateDefinition<Result, Args>,
    options: { args: Args; timeoutMs: number },
  ): Promise<Result>;
}
