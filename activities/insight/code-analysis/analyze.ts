import { isLeftOut, whyTooLarge } from '../../../domain/insight/code-analysis/jobs/checkout-rules.ts';
import type { FinishedAnalysis } from '../../../domain/insight/code-analysis/jobs/code-analyzer.port.ts';
import { branchHead, noteCommit } from '../../../domain/insight/code-analysis/jobs/analysis-jobs.queries.ts';
import { storeAnalysis } from '../../../domain/insight/code-analysis/analyses.mutations.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { fullCommitId } from '../../../domain/code/git/commits.queries.ts';
import { fetchCommit, remoteOf } from '../../code/git/fetched-commits.ts';
import type { Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import { projectById } from '../../../domain/projects/projects/projects.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import {
  analysisResultsContract,
  resultsStoredSignal,
} from '../../../workflows/insight/code-analysis/analysis-results.contract.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';

const failed = (error: string): RunOutcome => ({ status: 'failed', error });

/** Puts the files of a commit into a folder, has them analysed, and stores the results. */
export const analyze = (deps: Deps, tenant: TenantKey, run: RunContext): Promise<RunOutcome> => {
  let progress: object = { step: 'commit' };
  return withHeartbeat(
    async (signal) => {
      const { projectId, remoteUrl, platform, repositoryIdentifier, defaultBranch, payload } = run;
      if (projectId === null || platform === null || repositoryIdentifier === null)
        return failed('The run names no repository');
      if (remoteUrl === null) return failed(`The project ${repositoryIdentifier} has no remoteUrl`);
      const unavailable = deps.analysis.analyzer.whyUnavailable();
      if (unavailable !== undefined) return failed(unavailable);
      const unit = deps.actingAs(systemActor(tenant, 'code-analysis'));
      const of = { projectId, platform, remoteUrl, repositoryIdentifier };
      const remote = await remoteOf(unit, deps.encryption, of);
      const branch = payload.branch ?? defaultBranch ?? 'main';
      const sha = await resolveCommit(deps, tenant, run, { branch, remote }, signal);
      if (!('commitId' in sha)) return sha;
      const { commitId } = sha;
      await unit((tx) => noteCommit(tx, run.id, commitId));
      progress = { step: 'checkout', commitId };
      const about = { run, project: { id: projectId, remote }, branch, commitId };
      return analyzeCommit(deps, tenant, about, signal, (step) => {
        progress = { commitId, ...step };
      });
    },
    () => progress,
  );
};

/**
 * The commit that a run is about. The repository is fetched when the mirror lacks it, and to find the head where one is
 * wanted anew.
 */
async function resolveCommit(
  deps: Deps,
  tenant: TenantKey,
  { projectId: id, payload, result }: RunContext,
  { branch, remote }: { branch: string; remote: Remote },
  signal: AbortSignal,
): Promise<{ commitId: string } | RunOutcome> {
  const projectId = id ?? '';
  const mirror = { tenantId: tenant.tenantId, projectId };
  const { mirrors } = deps.git;
  const reads = deps.reads.as(systemActor(tenant, 'code-analysis'));
  // An attempt that was cut off had found the head.
  const given = payload.commitId ?? (typeof result.commitId === 'string' ? result.commitId : undefined);
  const wanted = given && (await fullCommitId(reads, projectId, given));
  if (wanted !== undefined) {
    const [known] = await mirrors.present(mirror, [wanted]).catch(() => new Set<string>());
    if (known !== undefined) return { commitId: known };
  } else if (payload.force !== true) {
    const head = await branchHead(reads, { projectId, branch });
    if (head !== undefined) return { commitId: head };
  }
  const fetched = await fetchCommit(mirrors, { mirror, remote, wanted, branch }, signal);
  return fetched.isOk ? { commitId: fetched.value } : failed(fetched.reason);
}

interface AnalysedCommit {
  run: RunContext;
  project: { id: string; remote: Remote };
  branch: string;
  commitId: string;
}

/** @param onStep told what is done now. */
async function analyzeCommit(
  deps: Deps,
  tenant: TenantKey,
  { run, project: { id: projectId, remote }, branch, commitId }: AnalysedCommit,
  signal: AbortSignal,
  onStep: (step: { step: string; files: number }) => void,
): Promise<RunOutcome> {
  const { analyzer } = deps.analysis;
  const failedOn = (error: string): RunOutcome => ({ ...failed(error), result: { branch, commitId } });
  const startedAt = deps.now();
  const place = await analyzer.open();
  try {
    const order = { sha: commitId, folder: place.folder, isLeftOut, whyTooLarge };
    const mirror = { tenantId: tenant.tenantId, projectId };
    const checkout = await deps.git.mirrors.checkout(mirror, remote, order, signal);
    if (!checkout.isOk) return failedOn(checkout.reason);
    const { files, leftOut } = checkout;
    onStep({ step: 'analysis', files });
    const outcome = await place.analyze(signal);
    if (!outcome.isOk) return failedOn(outcome.reason);
    onStep({ step: 'store', files });
    const analysisId = await storeResults(deps, tenant, { run, projectId, branch, commitId, startedAt }, outcome);
    if (analysisId === undefined) return failedOn('The project was removed');
    const { engines, notes, isOffline, durationMs } = outcome;
    const result = {
      branch,
      commitId,
      analysisId,
      files,
      leftOut,
      engines,
      notes,
      isOffline,
      durationMs,
    };
    return { status: 'succeeded', result };
  } catch (error) {
    // What is refused now is refused each time.
    if (error instanceof DomainError && error.code !== 'unavailable') return failedOn(error.message);
    throw error;
  } finally {
    await place.close();
  }
}

/** Stores the results of an analysis, and has them indexed; undefined: the project was removed. */
async function storeResults(
  deps: Deps,
  tenant: TenantKey,
  analysed: { run: RunContext; projectId: string; branch: string; commitId: string; startedAt: Date },
  outcome: FinishedAnalysis,
): Promise<string | undefined> {
  const { run, projectId, branch, commitId, startedAt: analyzedAt } = analysed;
  const actor = systemActor(tenant, 'code-analysis');
  const project = await projectById(deps.reads.as(actor), projectId);
  if (!project) return undefined;
  const { analysisId } = await storeAnalysis(
    { tx: deps.actingAs(actor), objects: deps.objects, tenantId: tenant.tenantId },
    outcome.sarif(),
    {
      project,
      runId: run.id,
      branch,
      commitId,
      analyzedAt,
      durationMs: outcome.durationMs,
      engine: deps.analysis.analyzer.name,
      triggeredBy: run.triggeredBy,
      isScheduled: run.isScheduled,
      isForced: run.payload.force === true,
    },
  );
  await deps.launch.signalWithStart(
    analysisResultsContract,
    { ...tenant, projectId, repositoryIdentifier: project.identifier, branch },
    resultsStoredSignal,
  );
  return analysisId;
}
