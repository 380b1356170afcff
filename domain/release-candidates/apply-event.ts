import { latestDeployments, lockDeployment, storeOutcome } from '../deployments/deployments.queries.ts';
import { listEnvironments } from '../environments/environments.queries.ts';
import { Project } from '../projects/projects.entities.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import type { Tx } from '../unit-of-work.ts';
import { moveCandidate } from './candidate-changes.ts';
import { FINALIZED, LOCKED_STATUSES } from './candidate-status-rules.ts';
import { decideEvent, type DeploymentStatus, type EventOutcome, type LatestDeployment } from './finalization-rules.ts';
import { ReleaseCandidate } from './release-candidates.entities.ts';
import { lockDomain, olderOpenCandidates } from './release-candidates.queries.ts';

const GONE: EventOutcome = {
  updated: false,
  previousStatus: '',
  newStatus: '',
  intermediateCandidatesFinalized: false,
  finalizationPending: false,
  missingEnvironments: [],
  message: 'The candidate was removed before the event was applied',
};

/**
 * Applies a stored release event of the domain: once, whatever the number of calls. Answers what it came to, then and
 * at every repetition; undefined when the project was removed.
 */
export async function applyEvent(
  tx: Tx,
  { projectId, domain }: { projectId: string; domain: string },
  deploymentId: string,
): Promise<EventOutcome | undefined> {
  // The domain first, as every change of its candidates does: one that is removed takes its mark off the event's row.
  await lockDomain(tx, projectId, domain);
  const deployment = await lockDeployment(tx, deploymentId);
  if (!deployment) return undefined;
  if (deployment.appliedAt !== null) return deployment.outcome ?? GONE;
  const project = await tx.em.findOne(Project, { tenantId: tx.tenantId, id: projectId });
  const candidate =
    deployment.candidateId &&
    (await tx.em.findOne(ReleaseCandidate, { tenantId: tx.tenantId, id: deployment.candidateId }));
  if (!project || !candidate) {
    await storeOutcome(tx, deploymentId, GONE);
    return GONE;
  }
  const latest = await latestDeployments(tx, candidate.id, deploymentId);
  const outcome = await decideFor(tx, project, candidate, deployment.status, latest);
  if (outcome.updated) await moveCandidate(tx, project, candidate, outcome.newStatus);
  if (outcome.updated && outcome.newStatus === FINALIZED) {
    const older = await olderOpenCandidates(tx, candidate, project.defaultBranch, LOCKED_STATUSES);
    for (const each of older) {
      await moveCandidate(tx, project, each, FINALIZED, {
        reason: `Finalized along with ${candidate.releaseName}`,
        isIntermediate: true,
      });
    }
    outcome.intermediateCandidatesFinalized = older.length > 0;
  }
  await storeOutcome(tx, deploymentId, outcome);
  return outcome;
}

/** What an event would come to now; changes nothing. */
export async function previewEvent(
  tx: Tx,
  project: ProjectFacts,
  candidate: ReleaseCandidate,
  event: { environmentId: string; status: DeploymentStatus },
): Promise<EventOutcome> {
  const others = (await latestDeployments(tx, candidate.id, null)).filter(
    ({ environmentId }) => environmentId !== event.environmentId,
  );
  const outcome = await decideFor(tx, project, candidate, event.status, [...others, { ...event, isRolledBack: false }]);
  if (outcome.updated && outcome.newStatus === FINALIZED) {
    const older = await olderOpenCandidates(tx, candidate, project.defaultBranch, LOCKED_STATUSES);
    outcome.intermediateCandidatesFinalized = older.length > 0;
  }
  return outcome;
}

async function decideFor(
  tx: Tx,
  project: ProjectFacts,
  candidate: ReleaseCandidate,
  deploymentStatus: DeploymentStatus,
  latest: readonly LatestDeployment[],
): Promise<EventOutcome> {
  return decideEvent({
    candidateStatus: candidate.status,
    branch: candidate.branch ?? project.defaultBranch,
    deploymentStatus,
    isAutoFinalizing: project.configuration.autoReleaseFinalization === true,
    environments: await listEnvironments(tx, project.id, 'release'),
    latestDeployments: latest,
  });
}
