import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { type RunContext, runById } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { isNoted, noteRunProgress } from '../../../domain/delivery/flows/run-progress.mutations.ts';
import { progressOfRun } from '../../../domain/delivery/flows/run-progress-rules.ts';
import { isFinal } from '../../../domain/delivery/flows/run-status-rules.ts';
import { goOnInOrg, waitForOrgCalls } from '../../../domain/delivery/flows/run-waits.mutations.ts';
import type { StepProgress } from '../../../domain/delivery/org-steps/org-step-rules.ts';
import type { OperationOf } from '../../../workflows/delivery/flows/operations.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { remoteOf } from '../../code/git/fetched-commits.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import type { Deps } from '../../deps.ts';

/**
 * What the service itself does for runs of a type; `workflows/delivery/flows/operations.ts` says on which queue. Retrying it must
 * be safe.
 */
export type Operation = (deps: Deps, tenant: TenantKey, run: RunContext) => Promise<HeldOutcome | Pending>;

/** How an operation ended, or what it has begun and is to be undone later. */
export type HeldOutcome = RunOutcome & {
  /** ISO 8601: until then the run goes on; its operation is undone then, or when the run is cancelled. */
  heldUntil?: string;
};

/** Undoes what an operation has begun; retried until it succeeds. Answers what the run's result shows of it. */
export type UndoOperation = (deps: Deps, key: RunKey) => Promise<Record<string, unknown>>;

/** Makes a branch at the host of a project. */
export const createPatchBranch: Operation = async (deps, tenant, run) => {
  const { payload, projectId, platform, remoteUrl, repositoryIdentifier } = run;
  if (projectId === null || platform === null || repositoryIdentifier === null || remoteUrl === null) {
    return { status: 'failed', error: `The project ${repositoryIdentifier ?? ''} has no remoteUrl` };
  }
  const place = { projectId, platform, remoteUrl, repositoryIdentifier };
  const unit = deps.actingAs(systemActor(tenant, 'flow'));
  const branch = {
    remote: await remoteOf(unit, deps.encryption, place),
    branch: String(payload.newBranch),
    sourceRef: String(payload.sourceRef),
  };
  const made = await withHeartbeat((signal) => deps.git.createBranch(branch, signal));
  return made.isOk
    ? { status: 'succeeded', result: { branch: payload.newBranch, commitId: made.commitId } }
    : { status: 'failed', error: made.reason };
};

/** How far a followed operation is, and when to look again. */
export interface Pending {
  /** Seconds; tests multiply them by `SERVICE_PACE`. */
  againInSeconds: number;
  /** What operators read: `Copying the sandbox`. */
  text: string;
  progress?: StepProgress;
  /** What it is at, where `text` says more than that. */
  atStep?: string;
  /** Its org takes no calls of runs now: why, for people. The run shows that it waits for that. */
  orgCalls?: string;
}

/**
 * What the service does in small steps, of which rows of `org_step` say how far it is. Each call may come twice, or die
 * between two lines.
 */
export interface FollowedOperation {
  /** Does what is next, or looks how far the org is. */
  advance: (deps: Deps, tenant: TenantKey, run: RunContext, signal: AbortSignal) => Promise<RunOutcome | Pending>;
  /** Why it cannot go, as far as its org says before anybody is asked to approve it; null: nothing is known against it. */
  check?: (deps: Deps, tenant: TenantKey, run: RunContext, signal: AbortSignal) => Promise<RunOutcome | null>;
  /** Stops it in the org as far as that can be done. Answers what goes on there nevertheless; null: nothing. */
  cancel: (deps: Deps, tenant: TenantKey, run: RunContext, signal: AbortSignal) => Promise<string | null>;
}

/** Shows on a run how far it is, and whether it waits for calls of its org; answers what its workflow does next. */
async function shown<Outcome extends RunOutcome>(
  deps: Deps,
  key: RunKey,
  run: RunContext,
  next: Outcome | Pending,
): Promise<Outcome | Pending> {
  if (!('againInSeconds' in next)) return next;
  const { orgCalls, atStep = next.text, ...pending } = next;
  const unit = deps.actingAs(systemActor(key, 'flow'));
  if (orgCalls !== undefined) await unit((tx) => waitForOrgCalls(tx, key.runId, orgCalls));
  else if (run.status === 'waiting_org_calls') await unit((tx) => goOnInOrg(tx, key.runId));
  const progress = progressOfRun(atStep, next.progress ?? {});
  // That it waits is announced by itself.
  if (orgCalls === undefined && !isNoted(run, progress)) await unit((tx) => noteRunProgress(tx, run, progress));
  return { ...pending, againInSeconds: pending.againInSeconds * deps.flows.pace };
}

/** What the service does by itself, of all areas. */
export interface Operations {
  operations: Readonly<Record<OperationOf<'once' | 'held'>, Operation>>;
  undo: Readonly<Record<OperationOf<'held'>, UndoOperation>>;
  followed: Readonly<Record<OperationOf<'followed'>, FollowedOperation>>;
}

export const createOperationActivities = (deps: Deps, { operations, undo, followed }: Operations) => ({
  /** Executes a run of a type that the service does itself; answers how it ended, or when to try again. */
  async runOperation(key: RunKey): Promise<HeldOutcome | Pending> {
    const run = await runById(deps.reads.as(systemActor(key, 'flow')), key.runId);
    const operation = byType<Operation>(operations, run.taskType);
    // An engine whose store is older than the row asks again for what has ended.
    if (isFinal(run.status)) return { status: run.status };
    if (!operation) return notExecuted(run);
    return shown(deps, key, run, await operation(deps, key, run));
  },

  /** Asks before the gates of a run whether its operation can go; answers the end of the run, or null. */
  async checkOperation(key: RunKey): Promise<RunOutcome | null> {
    const run = await runById(deps.reads.as(systemActor(key, 'flow')), key.runId);
    const { check } = byType<FollowedOperation>(followed, run.taskType) ?? {};
    return check && !isFinal(run.status) ? withHeartbeat((signal) => check(deps, key, run, signal)) : null;
  },

  /** Takes a followed operation on by a step; answers how it ended, or when to ask again. */
  async advanceOperation(key: RunKey): Promise<RunOutcome | Pending> {
    const run = await runById(deps.reads.as(systemActor(key, 'flow')), key.runId);
    const operation = byType<FollowedOperation>(followed, run.taskType);
    if (isFinal(run.status)) return { status: run.status };
    if (!operation) return notExecuted(run);
    return shown(deps, key, run, await withHeartbeat((signal) => operation.advance(deps, key, run, signal)));
  },

  /** Stops a followed operation in its org; answers what goes on there nevertheless, or null. */
  async cancelOperation(key: RunKey): Promise<string | null> {
    const run = await runById(deps.reads.as(systemActor(key, 'flow')), key.runId);
    const operation = byType<FollowedOperation>(followed, run.taskType);
    return operation ? withHeartbeat((signal) => operation.cancel(deps, key, run, signal)) : null;
  },

  /** Undoes what the operation of a run has begun, whatever became of the run meanwhile. */
  undoOperation: ({ taskType, ...key }: RunKey & { taskType: string }): Promise<Record<string, unknown>> =>
    byType<UndoOperation>(undo, taskType)?.(deps, key) ?? Promise.resolve({}),
});

/** Undefined for a type that only workers of another version know. */
const byType = <Each>(all: Readonly<Record<string, Each>>, taskType: string): Each | undefined => all[taskType];

const notExecuted = ({ taskType }: RunContext): RunOutcome => ({
  status: 'failed',
  error: `The service itself does not execute ${taskType}`,
});

export type OperationActivities = ReturnType<typeof createOperationActivities>;
