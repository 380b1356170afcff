import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { type RunContext, runById } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { isFinal } from '../../../domain/delivery/flows/run-status-rules.ts';
import type { OperationId } from '../../../domain/delivery/flows/flow-types.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { gitCredential } from '../../../domain/code/git/mirror/git-credentials.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import type { Deps } from '../../deps.ts';

/**
 * What the service itself does for runs of a type; `workflows/delivery/flows/operations.ts` says on which queue. Retrying it must
 * be safe.
 */
export type Operation = (deps: Deps, tenant: TenantKey, run: RunContext) => Promise<HeldOutcome>;

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
  const credential = await unit((tx) => gitCredential(tx, deps.encryption, place));
  const branch = {
    remote: { url: remoteUrl, credential },
    branch: String(payload.newBranch),
    sourceRef: String(payload.sourceRef),
  };
  const made = await withHeartbeat((signal) => deps.git.createBranch(branch, signal));
  return made.isOk
    ? { status: 'succeeded', result: { branch: payload.newBranch, commitId: made.commitId } }
    : { status: 'failed', error: made.reason };
};

/**
 * @param operations what the service does by itself, of all areas.
 * @param undo of those that last for a time.
 */
export const createOperationActivities = (
  deps: Deps,
  operations: Readonly<Record<OperationId, Operation>>,
  undo: Readonly<Partial<Record<OperationId, UndoOperation>>>,
) => ({
  /** Executes a run of a type that the service does itself. */
  async runOperation(key: RunKey): Promise<HeldOutcome> {
    const run = await runById(deps.reads.as(systemActor(key, 'flow')), key.runId);
    const operation: Operation | undefined = operations[run.taskType as OperationId];
    // An engine whose store is older than the row asks again for what has ended.
    if (isFinal(run.status)) return { status: run.status };
    if (!operation) return { status: 'failed', error: `The service itself does not execute ${run.taskType}` };
    return operation(deps, key, run);
  },

  /** Undoes what the operation of a run has begun, whatever became of the run meanwhile. */
  undoOperation: ({ taskType, ...key }: RunKey & { taskType: string }): Promise<Record<string, unknown>> =>
    undo[taskType as OperationId]?.(deps, key) ?? Promise.resolve({}),
});
export type OperationActivities = ReturnType<typeof createOperationActivities>;
