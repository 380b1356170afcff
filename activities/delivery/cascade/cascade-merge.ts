import { ApplicationFailure } from '@temporalio/common';
import {
  type CascadeStep,
  isLeft,
  type StepOutcome,
  stepsOf,
  whyNoStep,
} from '../../../domain/delivery/cascade/cascade-rules.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { remoteOf } from '../../code/git/fetched-commits.ts';
import type { MergeResult } from '../../../domain/code/git-hosts/git-host.port.ts';
import type { Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { projectById } from '../../../domain/projects/projects/projects.queries.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import type { Operation } from '../flows/operations.activities.ts';
import { keepLines } from '../org-steps/act-in-org.ts';

interface MergedStep extends CascadeStep {
  outcome: StepOutcome;
  commitId?: string;
  /** Paths that conflict, at most 100. */
  conflicts?: string[];
  pullRequest?: { number: number; url: string | null };
  reason?: string;
}

/**
 * Merges a branch into the next of its project's cascade, or all of the cascade in its order. Where a merge conflicts, or
 * the repository does not take it, a pull request is opened that names the conflicts.
 */
export const cascadeMerge: Operation = async (deps, tenant, run) => {
  const { projectId, platform, remoteUrl, repositoryIdentifier } = run;
  const unit = deps.actingAs(systemActor(tenant, 'flow'));
  const project = projectId === null ? undefined : await unit((tx) => projectById(tx, projectId));
  if (!project || projectId === null || platform === null || remoteUrl === null || repositoryIdentifier === null)
    return { status: 'failed', error: 'The run names no project with a remoteUrl' };
  const cascade = project.configuration.cascade ?? [];
  const why = whyNoStep(cascade, run.payload.branch);
  if (why !== null) return { status: 'failed', error: why };
  const place = { projectId, platform, remoteUrl, repositoryIdentifier };
  const remote = await remoteOf(unit, deps.encryption, place);
  let current = '';
  return withHeartbeat(
    async (signal) => {
      const steps: MergedStep[] = [];
      for (const step of stepsOf(cascade, run.payload.branch)) {
        current = `${step.from} into ${step.to}`;
        const isStopped = steps.some(({ to, outcome }) => to === step.from && isLeft(outcome));
        steps.push(
          isStopped ? { ...step, outcome: 'not_tried' } : await mergeStep(deps, tenant, run, { step, remote, signal }),
        );
      }
      const kept = await keepLines(deps, tenant, run.id, steps.map(lineOf));
      return outcomeOf(steps, kept);
    },
    () => current,
  );
};

async function mergeStep(
  deps: Deps,
  tenant: TenantKey,
  run: RunContext,
  { step, remote, signal }: { step: CascadeStep; remote: Remote; signal: AbortSignal },
): Promise<MergedStep> {
  const { from, to } = step;
  const message = `Merge branch '${from}' into ${to}\n\nRequested by ${run.triggeredBy}`;
  const merged = await deps.git.mergeBranches({ remote, from, to, message }, signal);
  if (!merged.isOk) return { ...step, outcome: 'failed', reason: merged.reason };
  if ('commitId' in merged) return { ...step, outcome: merged.outcome, commitId: merged.commitId };
  return { ...step, ...(await requested(deps, tenant, run, { step, merged })) };
}

type Unmerged = Extract<MergeResult, { outcome: 'conflicts' } | { outcome: 'refused' }>;

/** Opens the pull request by which people finish a merge. */
async function requested(
  deps: Deps,
  tenant: TenantKey,
  { id, projectId, platform, repositoryIdentifier, triggeredBy }: RunContext,
  { step: { from, to }, merged }: { step: CascadeStep; merged: Unmerged },
): Promise<Omit<MergedStep, keyof CascadeStep>> {
  const conflicts = merged.outcome === 'conflicts' ? { conflicts: merged.paths } : {};
  const outcome = { outcome: merged.outcome, ...conflicts };
  if (projectId === null || platform === null || repositoryIdentifier === null) return outcome;
  const host = await deps.git.findHost({ ...tenant, projectId, platform, purpose: `cascade of run ${id}` });
  if (!host) return { ...outcome, reason: `no pull request was opened, since no credential for ${platform} is kept` };
  const opened = await host.openPullRequest({
    repository: repositoryIdentifier,
    from,
    to,
    title: `Merge ${from} into ${to}`,
    description: descriptionOf(merged, triggeredBy),
  });
  if (opened.isOk) return { ...outcome, pullRequest: opened.value };
  if (opened.isTransient) throw ApplicationFailure.retryable(opened.reason);
  return { ...outcome, reason: `no pull request was opened: ${opened.reason}` };
}

function descriptionOf(merged: Unmerged, triggeredBy: string): string {
  const requestedBy = `Requested by ${triggeredBy}.`;
  if (merged.outcome === 'refused') return `The repository did not take the merge directly. ${requestedBy}`;
  const listed = merged.paths.map((path) => `- \`${path.replaceAll('`', "'")}\``);
  const more = merged.total > merged.paths.length ? [`- and ${merged.total - merged.paths.length} more`] : [];
  return [`These files conflict. ${requestedBy}`, '', ...listed, ...more].join('\n');
}

function lineOf({ from, to, outcome, commitId, conflicts, pullRequest, reason }: MergedStep): string {
  const parts = [
    commitId,
    conflicts && `${conflicts.length} files conflict: ${conflicts.slice(0, 5).join(', ')}`,
    pullRequest && `pull request ${pullRequest.number} ${pullRequest.url ?? ''}`.trim(),
    reason,
  ].filter((part) => part !== undefined);
  return `${outcome.replaceAll('_', ' ')}: ${from} into ${to}${parts.length > 0 ? ` (${parts.join('; ')})` : ''}`;
}

function outcomeOf(steps: readonly MergedStep[], kept: object): RunOutcome {
  const left = steps.filter(({ outcome }) => isLeft(outcome));
  const result = { merges: steps, ...kept };
  if (left.length === 0) return { status: 'succeeded', result };
  const isRequested = left.some(({ pullRequest }) => pullRequest !== undefined);
  const isPart = isRequested || left.length < steps.length;
  return { status: isPart ? 'partial' : 'failed', error: left.map(lineOf).join('; '), result };
}
