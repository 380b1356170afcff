import type { PackageDetail } from '../deployments/deployments.entities.ts';
import {
  latestDeployments,
  type NewDeployment,
  type StoredDeployment,
  storeDeployment,
  storeOutcome,
} from '../deployments/deployments.queries.ts';
import { installedBy, installsAll } from '../deployments/report-rules.ts';
import { listEnvironments } from '../environments/environments.queries.ts';
import { domainNames } from '../projects/project-rules.ts';
import { type ProjectFacts, unregistered } from '../projects/projects.queries.ts';
import { notFound } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import { FINALIZED } from './candidate-status-rules.ts';
import {
  decideEvent,
  type DeploymentStatus,
  type EnvironmentFacts,
  type EventOutcome,
  isSuccess,
  type LatestDeployment,
} from './finalization-rules.ts';
import { moveCandidates } from './candidate-status.mutations.ts';
import { candidateById, type CandidateRow, lockDomain, olderOpenCandidates } from './release-candidates.queries.ts';
import { type EventPlace, findEventPlace, lockEvent } from './release-events.queries.ts';

/** A deployment as a pipeline reports it. */
export interface DeploymentReport extends EventPlace {
  deploymentStatus: DeploymentStatus;
  /** Run of the pipeline; two reports of one run are one event. */
  executionId?: string | undefined;
  deployedAt?: Date | undefined;
  /** The candidate's own when absent. */
  packages?: Record<string, string> | undefined;
  packageDetails?: PackageDetail[] | undefined;
  releaseDefinition?: NewDeployment['releaseDefinition'];
  metadata?: NewDeployment['metadata'];
  approval?: NewDeployment['approval'];
}

/** Finds what a report names. Throws `invalid_request` for an unknown repository, else `not_found`. */
async function locate(tx: Tx, report: EventPlace) {
  const place = await findEventPlace(tx, report);
  if (!place) throw unregistered(report.repositoryIdentifier);
  const { projectId, environmentId, candidateId, configuration, value, contentDigest } = place;
  if (environmentId === null) throw notFound(`Environment ${report.environmentName}`);
  const domains = domainNames(configuration);
  if (domains.length > 0 && !domains.includes(report.domain)) throw notFound(`Domain ${report.domain}`);
  if (candidateId === null) throw notFound(`Release candidate ${report.releaseName} of domain ${report.domain}`);
  return {
    projectId,
    environmentId,
    candidateId,
    artifacts: value?.artifacts ?? {},
    contentDigest: contentDigest ?? '',
  };
}

/**
 * Stores the report of a deployment, to be applied to its candidate. A report that was stored before changes nothing.
 * Throws `invalid_request`, `not_found`.
 */
export async function reportDeployment(
  tx: Tx,
  report: DeploymentReport,
  requestId: string,
): Promise<StoredDeployment & { projectId: string }> {
  const { artifacts, ...place } = await locate(tx, report);
  const { deploymentStatus: status, packages, packageDetails = [] } = report;
  const installed = installedBy({ status, packages, packageDetails }, artifacts);
  const deployment: NewDeployment = {
    ...place,
    domain: report.domain,
    releaseName: report.releaseName,
    status,
    deployedAt: report.deployedAt ?? tx.now,
    dedupeKey: report.executionId ?? report.deployedAt?.toISOString(),
    executionId: report.executionId,
    packages: packages ?? artifacts,
    packageDetails,
    installed,
    installsAll: installsAll(status, installed, artifacts),
    releaseDefinition: report.releaseDefinition,
    metadata: report.metadata,
    approval: report.approval,
  };
  const stored = await storeDeployment(tx, deployment, requestId);
  if (stored.isNew) recordReport(tx, stored, report, deployment);
  return { ...stored, projectId: place.projectId };
}

/** The audit entry and the events of a deployment that was reported for the first time. */
function recordReport(
  tx: Tx,
  { id, isFirst }: StoredDeployment,
  { repositoryIdentifier, domain, releaseName, environmentName }: DeploymentReport,
  { candidateId, packages, status, executionId, deployedAt }: NewDeployment,
): void {
  const release = { repositoryIdentifier, domain, releaseName };
  tx.audit({
    source: 'release',
    action: 'release.deployment_recorded',
    entityType: 'release_deployment',
    entityId: id,
    repositoryIdentifier,
    summary: `Deployment of ${releaseName} (${domain}) to ${environmentName}: ${status}`,
    after: { ...release, environmentName, status, executionId: executionId ?? null, packages, deployedAt },
  });
  emitEvent(tx, isSuccess(status) ? 'deployment.completed' : 'deployment.failed', {
    id,
    candidateId,
    ...release,
    environmentName,
    status,
    deployedAt: deployedAt.toISOString(),
    executionId: executionId ?? null,
    packages,
    deployedBy: tx.actor.email,
  });
  if (isFirst)
    emitEvent(tx, 'release.created', { ...release, candidateId, environmentName, packages, by: tx.actor.email });
}

const CANDIDATE_GONE: EventOutcome = {
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
 * at every retry; undefined when the project was removed.
 */
export async function applyEvent(
  tx: Tx,
  { projectId, domain }: { projectId: string; domain: string },
  deploymentId: string,
): Promise<EventOutcome | undefined> {
  // Before the event's row, as every change of the domain's candidates does: to delete one changes the rows of its events.
  await lockDomain(tx, projectId, domain);
  const event = await lockEvent(tx, deploymentId);
  if (!event) return undefined;
  const { project, candidate } = event;
  if (event.isApplied) return event.outcome ?? CANDIDATE_GONE;
  if (!candidate) {
    await storeOutcome(tx, deploymentId, CANDIDATE_GONE);
    return CANDIDATE_GONE;
  }
  const outcome = decideFor(project, candidate, event);
  if (outcome.updated) {
    const older = await finalizedAlong(tx, candidate, project.defaultBranch, outcome);
    const reason = `Finalized along with ${candidate.releaseName}`;
    const supersededBy = candidate.releaseName;
    const moves = [
      { candidate, isDeployed: true },
      ...older.map((each) => ({ candidate: each, reason, supersededBy })),
    ];
    await moveCandidates(tx, project, moves, outcome.newStatus);
    outcome.intermediateCandidatesFinalized = older.length > 0;
  }
  await storeOutcome(tx, deploymentId, outcome);
  return outcome;
}

/** What a reported deployment would come to now; changes nothing. Throws `invalid_request`, `not_found`. */
export async function previewEvent(tx: Tx, report: DeploymentReport): Promise<EventOutcome> {
  const { candidateId, environmentId } = await locate(tx, report);
  const { candidate, project } = await candidateById(tx, candidateId);
  const latest = (await latestDeployments(tx, candidateId)).filter((each) => each.environmentId !== environmentId);
  const { deploymentStatus } = report;
  const outcome = decideFor(project, candidate, {
    deploymentStatus,
    environments: await listEnvironments(tx, project.id, 'release'),
    latestDeployments: [...latest, { environmentId, status: deploymentStatus, isRolledBack: false }],
  });
  const older = await finalizedAlong(tx, candidate, project.defaultBranch, outcome);
  return { ...outcome, intermediateCandidatesFinalized: older.length > 0 };
}

/** The older candidates that an outcome finalizes, too. */
const finalizedAlong = async (
  tx: Tx,
  candidate: CandidateRow,
  defaultBranch: string,
  { updated, newStatus }: EventOutcome,
): Promise<CandidateRow[]> =>
  updated && newStatus === FINALIZED ? olderOpenCandidates(tx, candidate, defaultBranch) : [];

const decideFor = (
  { defaultBranch, configuration }: Pick<ProjectFacts, 'defaultBranch' | 'configuration'>,
  { status, branch }: CandidateRow,
  event: {
    deploymentStatus: DeploymentStatus;
    environments: readonly EnvironmentFacts[];
    latestDeployments: readonly LatestDeployment[];
  },
): EventOutcome =>
  decideEvent({
    candidateStatus: status,
    branch: branch ?? defaultBranch,
    deploymentStatus: event.deploymentStatus,
    isAutoFinalizing: configuration.autoReleaseFinalization === true,
    environments: event.environments,
    latestDeployments: event.latestDeployments,
  });
