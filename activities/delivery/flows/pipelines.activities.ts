import { ApplicationFailure } from '@temporalio/common';
import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { findRun, type RunContext, runById } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import {
  forgetDispatch,
  noteDispatch,
  notePipeline,
  reportedEnd,
} from '../../../domain/delivery/flows/programs/pipelines.queries.ts';
import { holdsLocks } from '../../../domain/delivery/environment-locks/lock-tickets.queries.ts';
import { LOCK_LOST } from '../../../domain/delivery/flows/gates/lock-lost-rules.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import type { GitHost, PipelineRun, PipelineState } from '../../../domain/code/git-hosts/git-host.port.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';
import { unitOfRun } from './run-steps.activities.ts';

const ENDS: Record<Exclude<PipelineState, 'open'>, RunOutcome> = {
  succeeded: { status: 'succeeded' },
  failed: { status: 'failed', error: 'The pipeline failed' },
  cancelled: { status: 'cancelled', error: 'The pipeline was cancelled on its host' },
};

/** Pipelines of git hosts that execute runs. */
export const createPipelineActivities = (deps: Deps) => {
  /** The pipeline of a run with its host; undefined when the host never named one, or no credential is left. */
  const pipelineOf = async (key: RunKey): Promise<{ host: GitHost; pipeline: PipelineRun } | undefined> => {
    const run = await findRun(deps.reads.as(systemActor(key, 'flow')), key.runId);
    const { pipeline } = run?.payload ?? {};
    const host = run && (await hostOf(deps, key, run));
    if (!host || !pipeline || run.cicdRunId === null || run.repositoryIdentifier === null) return undefined;
    return { host, pipeline: { repository: run.repositoryIdentifier, pipeline: pipeline.id, runId: run.cicdRunId } };
  };

  return {
    /**
     * Dispatches a run's pipeline once: what was tried before and may have arrived is not tried again, but waited for.
     * Answers how the run ends when it cannot be dispatched, or has lost a lock, else null.
     * @param locks how many the run holds.
     */
    dispatchPipeline: ({ locks = 0, ...key }: RunKey & { locks?: number }): Promise<RunOutcome | null> =>
      dispatch(deps, key, locks),

    /** How the run's worker reported that it ended; null while it has not. A run that was removed is cancelled. */
    async reportedOutcome(key: RunKey): Promise<RunOutcome | null> {
      const reported = await reportedEnd(deps.reads.as(systemActor(key, 'flow')), key.runId);
      return reported === undefined ? { status: 'cancelled', error: 'The run was removed' } : reported;
    },

    /** Cancels a run's pipeline on its host, if the host named one; answers why the host refuses to, else null. */
    async cancelPipeline(key: RunKey): Promise<string | null> {
      const found = await pipelineOf(key);
      if (!found) return null;
      const answer = await found.host.cancelPipeline(found.pipeline);
      if (answer.isOk) return null;
      if (answer.isTransient) throw ApplicationFailure.retryable(answer.reason);
      return `The pipeline may still run: ${answer.reason}`;
    },

    /** Asks the host how the run's pipeline ended; null while it is open, or the host does not say. */
    async pollPipeline(key: RunKey): Promise<RunOutcome | null> {
      const found = await pipelineOf(key);
      if (!found) return null;
      const answer = await found.host.pipelineState(found.pipeline);
      return answer.isOk && answer.value !== 'open' ? ENDS[answer.value] : null;
    },
  };
};
export type PipelineActivities = ReturnType<typeof createPipelineActivities>;

const hostOf = async (
  { git }: Deps,
  { tenantId, tenantSlug }: RunKey,
  { id, projectId, platform }: RunContext,
): Promise<GitHost | undefined> =>
  projectId === null || platform === null
    ? undefined
    : git.findHost({ tenantId, tenantSlug, projectId, platform, purpose: `pipeline of run ${id}` });

async function dispatch(deps: Deps, key: RunKey, locks: number): Promise<RunOutcome | null> {
  const reads = deps.reads.as(systemActor(key, 'flow'));
  const run = await runById(reads, key.runId);
  const held = { runId: run.id, count: locks, forMs: 0 };
  const isHeld = locks === 0 || (await holdsLocks(reads, held));
  const { pipeline } = run.payload;
  const host = await hostOf(deps, key, run);
  if (!pipeline || !host || run.repositoryIdentifier === null)
    return { status: 'failed', error: 'No credential for the git host is kept: an integration is missing' };
  const unit = unitOfRun(deps, key);
  if (!(await unit((tx) => noteDispatch(tx, run.id)))) return null;
  if (!isHeld) {
    await unit((tx) => forgetDispatch(tx, run.id));
    return LOCK_LOST;
  }
  const answer = await host.dispatchPipeline({
    repository: run.repositoryIdentifier,
    pipeline: pipeline.id,
    ref: pipeline.ref ?? run.payload.branch ?? run.defaultBranch ?? 'main',
    inputs: { ...pipeline.inputs, executionId: run.id },
  });
  if (answer.isOk) {
    await unit((tx) => notePipeline(tx, run.id, answer.value));
    return null;
  }
  // Not again: it is waited for as if it had been dispatched.
  if (answer.mayBeDone) return null;
  await unit((tx) => forgetDispatch(tx, run.id));
  if (!answer.isTransient) return { status: 'failed', error: answer.reason };
  throw ApplicationFailure.retryable(answer.reason, 'refused');
}
