import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { findRun, type RunContext, runById } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import {
  forgetDispatch,
  noteDispatch,
  notePipeline,
  reportedEnd,
  toldPipeline,
} from '../../../domain/delivery/flows/programs/pipelines.queries.ts';
import { holdsLocks } from '../../../domain/delivery/environment-locks/lock-tickets.queries.ts';
import { LOCK_LOST } from '../../../domain/delivery/flows/gates/lock-lost-rules.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { mustAsk, NOTHING_TOLD } from '../../../domain/delivery/flows/programs/pipeline-output-rules.ts';
import type { GitHost, PipelineState } from '../../../domain/code/git-hosts/git-host.port.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { PipelineLooks, type Place } from './pipeline-looks.ts';
import { showOutput, type ShownPipeline } from './pipeline-output.ts';
import { unitOfRun } from './run-steps.activities.ts';

const ENDS: Record<Exclude<PipelineState, 'open'>, RunOutcome> = {
  succeeded: { status: 'succeeded' },
  failed: { status: 'failed', error: 'The pipeline failed' },
  cancelled: { status: 'cancelled', error: 'The pipeline was cancelled on its host' },
};

/** Runs whose hosts a worker knows, and how long it uses the credential that it has read for one. */
const KNOWN_MAX = 1_000;
const KNOWN_MS = 600_000;

/** Pipelines of git hosts that execute runs. */
export const createPipelineActivities = (deps: Deps) => {
  /** Each reading of a credential is in the audit trail. */
  const known = new LRUCache<string, GitHost>({
    max: KNOWN_MAX,
    ttl: KNOWN_MS,
    updateAgeOnGet: false,
    noUpdateTTL: true,
  });
  /** The pipeline of a run with its host; undefined when the host never named one, or no credential is left. */
  const pipelineOf = async (key: RunKey): Promise<ShownPipeline | undefined> => {
    const reads = deps.reads.as(systemActor(key, 'flow'));
    const run = await findRun(reads, key.runId);
    const { pipeline } = run?.payload ?? {};
    if (!run || !pipeline || run.cicdRunId === null || run.repositoryIdentifier === null) return undefined;
    const host = known.get(run.id) ?? (await hostOf(deps, key, run));
    if (!host) return undefined;
    known.set(run.id, host);
    const named = { repository: run.repositoryIdentifier, pipeline: pipeline.id, runId: run.cicdRunId };
    return { run, host, pipeline: named, told: await toldPipeline(reads, run.id) };
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

    ...createPipelineFollowing(deps, pipelineOf),
  };
};
export type PipelineActivities = ReturnType<typeof createPipelineActivities>;

function createPipelineFollowing(deps: Deps, pipelineOf: (key: RunKey) => Promise<ShownPipeline | undefined>) {
  const looks = new PipelineLooks();
  return {
    /** Asks the host how the run's pipeline ended, and shows what is new of it; null while it is open, or nothing is known. */
    pollPipeline: (key: RunKey): Promise<RunOutcome | null> =>
      withHeartbeat(async () => {
        const found = await pipelineOf(key);
        return found ? poll(deps, looks, key, found) : null;
      }),

    /** Shows what is new of the run's pipeline. */
    async showPipeline(key: RunKey): Promise<void> {
      const found = await pipelineOf(key);
      if (!found) return;
      // Nothing is shown later, so that it counts as a look, but is not put off.
      if (looks.take(placeOf(key, found.run), deps.now().getTime()) !== 'paused') await show(deps, looks, key, found);
    },
  };
}

const placeOf = ({ tenantId }: RunKey, { platform, projectId }: RunContext): Place => ({
  tenantId,
  platform,
  projectId,
});

/** Shows what is new; what the host does not answer now is shown later, or never. */
async function show(
  deps: Deps,
  looks: PipelineLooks,
  key: RunKey,
  found: ShownPipeline,
  options?: { isLast: boolean },
): Promise<void> {
  try {
    const failure = await showOutput(deps, key, found, options);
    if (failure?.retryAfterMs !== undefined)
      looks.pause(placeOf(key, found.run), failure.retryAfterMs, deps.now().getTime());
  } catch (error) {
    if (error instanceof CancelledFailure) throw error;
    // The run ends as its pipeline does, whether or not people see what it printed.
    deps.log.warn({ err: error, runId: key.runId }, 'output of a pipeline could not be shown');
  }
}

/** Null also where the host is not asked now: others of the tenant have used up its calls. */
async function poll(deps: Deps, looks: PipelineLooks, key: RunKey, found: ShownPipeline): Promise<RunOutcome | null> {
  const now = deps.now().getTime();
  const { run, told, host, pipeline } = found;
  const sinceMs = now - new Date(run.startedAt ?? now).getTime();
  const place = placeOf(key, run);
  const look = looks.take(place, now);
  const { askedAt, ...before } = told ?? NOTHING_TOLD;
  const known = { ...before, askedAt: Math.max(askedAt, looks.askedAt(run.id)) };
  if (look !== 'taken' && !mustAsk(known, now, sinceMs)) return null;
  looks.noteAsked(run.id, now);
  const answer = await host.pipelineState(pipeline);
  if (!answer.isOk) {
    if (answer.retryAfterMs !== undefined) looks.pause(place, answer.retryAfterMs, now);
    return null;
  }
  if (look === 'paused' && answer.value === 'open') return null;
  const isLast = answer.value !== 'open';
  await show(deps, looks, key, found, { isLast });
  return answer.value === 'open' ? null : ENDS[answer.value];
}

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
