/** How a workflow is named, queued and identified: data shared by whoever starts it and whoever runs it. */
export interface WorkflowContract<Input> {
  workflow: string;
  taskQueue: string;
  /** `{tenant}/{kind}/{id}`. */
  workflowId: (input: Input) => string;
  /** One line for an operator who looks at the list of runs. */
  summary: (input: Input) => string;
  /** Values of the search attributes by which operators find the run. */
  searchAttributes: (input: Input) => { Tenant: string; Repository?: string; TaskType?: string; EntityId?: string };
}

export const defineContract = <Input>(contract: WorkflowContract<Input>): WorkflowContract<Input> => contract;

/** A question to an entity workflow which it answers in order with all the others that it gets. */
export interface UpdateContract<Argument, Result> {
  update: string;
  /** Only for the types; never set. */
  readonly types?: { argument: Argument; result: Result };
}

export const defineUpdate = <Argument, Result>(update: string): UpdateContract<Argument, Result> => ({ update });

/** The engine did not answer in time, or is away. What was asked may or may not have been done. */
export class EngineUnavailableError extends Error {}

/** Five fields, and the IANA name of the zone in which they count. */
export interface CronTime {
  cron: string;
  timezone: string;
}

export interface Launch {
  /**
   * Starts a workflow once: a second start of the same id, running or closed, changes nothing.
   * Throws `EngineUnavailableError`.
   */
  start<Input>(contract: WorkflowContract<Input>, input: Input): Promise<void>;
  /**
   * Starts a workflow as `start` does, without waiting. Starts beyond a fixed number under way wait their turn; one that
   * fails, or finds too many before it, is only logged: the row from which it came is swept.
   */
  begin<Input>(contract: WorkflowContract<Input>, input: Input): void;
  /** Asks a workflow to stop; one that does not run, or never did, needs nothing. Throws `EngineUnavailableError`. */
  cancel<Input>(contract: WorkflowContract<Input>, input: Input): Promise<void>;
  /** Whether a workflow runs at this moment. Throws `EngineUnavailableError`. */
  isRunning<Input>(contract: WorkflowContract<Input>, input: Input): Promise<boolean>;
  /** Starts a workflow each time that the schedule is due; one of that id is there already: nothing. Throws `EngineUnavailableError`. */
  schedule<Input>(contract: WorkflowContract<Input>, input: Input, time: CronTime): Promise<void>;
  /** Ends what `schedule` began; nothing when there is none. Throws `EngineUnavailableError`. */
  unschedule<Input>(contract: WorkflowContract<Input>, input: Input): Promise<void>;
  /** Signals a workflow without starting it; one that does not run needs nothing. Throws `EngineUnavailableError`. */
  tell<Input>(contract: WorkflowContract<Input>, input: Input, signal: string): Promise<void>;
  /** Signals a workflow, starting it first when it is not running. Throws `EngineUnavailableError`. */
  signal<Input>(contract: WorkflowContract<Input>, input: Input, signal: string): Promise<void>;
  /**
   * Wakes an entity workflow without waiting. One wake of an id is under way at most, and those that follow within
   * `quietMs` become one more; a wake that fails is only logged.
   */
  wake<Input>(contract: WorkflowContract<Input>, input: Input, signal: string, quietMs: number): void;
  /**
   * Asks an entity workflow, starting it first when it is not running, and waits for its answer.
   * Throws `EngineUnavailableError`, or the `DomainError` by which the workflow refused.
   */
  ask<Input, Argument, Result>(
    contract: WorkflowContract<Input>,
    input: Input,
    question: UpdateContract<Argument, Result>,
    argument: Argument,
    timeoutMs: number,
  ): Promise<Result>;
}
