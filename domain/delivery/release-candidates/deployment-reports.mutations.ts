import type { PackageDetail } from '../deployments/deployments.entities.ts';
import { type NewDeployment, type StoredDeployment, storeDeployment } from '../deployments/deployments.queries.ts';
import { isEffective } from '../deployments/deployed-rules.ts';
import { installedBy, installsAll, type Packages } from '../deployments/report-rules.ts';
import { unknownEnvironment } from '../../projects/environments/environments.queries.ts';
import { contentOfRun } from '../flows/run-deployments.queries.ts';
import {
  type FetchedProject,
  fetchUnknownCommits,
  type MirrorToFetch,
} from '../../code/git/mirror/commit-fetches.mutations.ts';
import { type PolicedEnvironment, policyViolations } from '../promotion/policy-violations.ts';
import { findCandidateById } from './release-candidates.queries.ts';
import { unknownDomain } from '../../projects/projects/project-rules.ts';
import { unregistered } from '../../kernel/shared/errors.ts';
import { invalidField, notFound } from '../../kernel/shared/errors.ts';
import { isId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { type DeploymentStatus, isSuccess } from './finalization-rules.ts';
import { verifyStored } from '../verification/verification-requests.mutations.ts';
import { type EventPlace, findEventPlace } from './release-events.queries.ts';

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
  /** Who deployed; the actor when absent. */
  deployedBy?: string | undefined;
}

/** Where a report belongs, and the content that it is about. */
interface ReportedPlace {
  projectId: string;
  environmentId: string;
  candidateId: string | null;
  contentDigest: string;
  artifacts: Packages;
  /** When what was deployed next was taken back. */
  takenBackAt: string | null;
}

/** Clocks of pipelines may differ; what is later than this is a mistake. */
const AHEAD_MAX_MS = 10 * 60_000;

interface ReportedDeployment {
  deployment: NewDeployment & { candidateId: string };
  /** The candidate's, where the repository is not known to have it. */
  unknownCommit: string | undefined;
  project: FetchedProject;
}

/**
 * What a report would store. Throws `invalid_request` for an unknown repository and for a moment to come, else
 * `not_found`.
 */
export async function deploymentOf(tx: Tx, report: DeploymentReport): Promise<ReportedDeployment> {
  const place = await findEventPlace(tx, report, report.deployedAt);
  if (!place) throw unregistered(report.repositoryIdentifier);
  const { projectId, environmentId, candidateId, configuration, value, contentDigest, now, takenBackAt } = place;
  if (environmentId === null) throw await unknownEnvironment(tx, projectId, report.environmentName);
  const unlisted = unknownDomain(configuration, report.domain);
  if (unlisted) throw unlisted;
  if (candidateId === null) throw notFound(`Release candidate ${report.releaseName} of domain ${report.domain}`);
  const { domain, releaseName, deployedAt = new Date(now), executionId } = report;
  if (deployedAt.getTime() > now + AHEAD_MAX_MS)
    throw invalidField('deployedAt', 'The deployment is said to be more than 10 minutes ahead');
  // A run deploys the content with which it began, though the candidate may have been replaced or made anew since.
  const content =
    executionId !== undefined && isId(executionId)
      ? await contentOfRun(tx, executionId, { projectId, environmentId, domain, releaseName })
      : undefined;
  const own = content && content.candidateId !== null ? content : undefined;
  const deployed = {
    artifacts: own?.artifacts ?? value?.artifacts ?? {},
    contentDigest: own?.contentDigest ?? contentDigest ?? '',
  };
  const reported = { projectId, environmentId, candidateId, takenBackAt, ...deployed };
  const unpoliced = newDeployment(reported, { ...report, deployedAt });
  const environment = {
    name: report.environmentName,
    promotion: place.promotion,
    approvalPolicy: place.approvalPolicy,
    projectPolicy: configuration.approvalPolicy ?? null,
    orchestrationOrder: place.orchestrationOrder ?? 0,
  };
  const { artifacts } = deployed;
  const { contentDigest: digest } = deployed;
  const candidate = { id: candidateId, contentDigest: digest, value: { artifacts }, holds: place.holds ?? [] };
  // A run passed the gates, unless an external worker executes it.
  const violations = own?.hasWorkflow ? [] : await policyViolations(tx, environment, candidate, unpoliced);
  const dedupeKey = executionId ?? report.deployedAt?.toISOString();
  return {
    deployment: { ...unpoliced, dedupeKey, candidateId, policyViolations: violations },
    unknownCommit: place.isCommitKnown ? undefined : (place.commitSha ?? undefined),
    project: { id: projectId, identifier: report.repositoryIdentifier, remoteUrl: place.remoteUrl },
  };
}

const newDeployment = (
  { artifacts, takenBackAt, ...place }: ReportedPlace,
  { deploymentStatus: status, packages, packageDetails = [], ...report }: DeploymentReport & { deployedAt: Date },
): Omit<NewDeployment, 'policyViolations'> => {
  const installed = installedBy({ status, packages, packageDetails }, artifacts);
  return {
    ...place,
    domain: report.domain,
    releaseName: report.releaseName,
    status,
    deployedAt: report.deployedAt,
    dedupeKey: report.executionId,
    executionId: report.executionId,
    packages: packages ?? artifacts,
    packageDetails,
    installed,
    installsAll: installsAll(status, installed, artifacts),
    rolledBackAt: isEffective({ status, isRolledBack: false }) ? takenBackAt : null,
    releaseDefinition: report.releaseDefinition,
    metadata: report.metadata,
    approval: report.approval,
  };
};

/**
 * Stores the report of a deployment, to be applied to its candidate. A report that was stored before changes nothing.
 * Answers the mirror to signal where the candidate's commit is not known. Throws `invalid_request`, `not_found`.
 */
export async function reportDeployment(
  tx: Tx,
  report: DeploymentReport,
  requestId: string,
): Promise<StoredDeployment & { projectId: string; toFetch: MirrorToFetch | undefined }> {
  const { deployment, unknownCommit, project } = await deploymentOf(tx, report);
  const stored = await storeReport(tx, report, deployment, requestId);
  const isToFetch = stored.isNew && unknownCommit !== undefined;
  return {
    ...stored,
    projectId: project.id,
    toFetch: isToFetch ? await fetchUnknownCommits(tx, project, [unknownCommit]) : undefined,
  };
}

/**
 * Stores the deployment that a run has just made, as `reportDeployment` does.
 * @param environment whose policies it may break; absent: the run passed its gates.
 */
export async function storeDeploymentOfRun(
  tx: Tx,
  place: Omit<ReportedPlace, 'takenBackAt'>,
  report: DeploymentReport & { executionId: string; deployedAt: Date },
  requestId: string | null,
  environment?: PolicedEnvironment,
): Promise<StoredDeployment> {
  const deployment = newDeployment({ ...place, takenBackAt: null }, report);
  const { candidateId: id, contentDigest, artifacts } = place;
  const holds = environment && id !== null ? ((await findCandidateById(tx, id))?.holds ?? []) : [];
  const candidate = id === null ? null : { id, contentDigest, value: { artifacts }, holds };
  const violations = environment ? await policyViolations(tx, environment, candidate, deployment) : [];
  return storeReport(tx, report, { ...deployment, policyViolations: violations }, requestId);
}

async function storeReport(
  tx: Tx,
  report: DeploymentReport,
  deployment: NewDeployment,
  requestId: string | null,
): Promise<StoredDeployment> {
  const stored = await storeDeployment(tx, deployment, requestId);
  if (!stored.isNew) return stored;
  recordReport(tx, stored, report, deployment);
  await verifyStored(tx, { ...deployment, id: stored.id });
  return stored;
}

/** The audit entry and the events of a deployment that was reported for the first time. */
function recordReport(
  tx: Tx,
  { id, isFirst }: StoredDeployment,
  { repositoryIdentifier, domain, releaseName, environmentName, deployedBy = tx.actor.email }: DeploymentReport,
  { candidateId, packages, status, executionId, deployedAt, policyViolations: violations }: NewDeployment,
): void {
  const release = { repositoryIdentifier, domain, releaseName };
  const broken = violations.length > 0 ? { policyViolations: violations } : {};
  tx.audit({
    source: 'release',
    action: 'release.deployment_recorded',
    entityType: 'release_deployment',
    entityId: id,
    repositoryIdentifier,
    summary: `Deployment of ${releaseName} (${domain}) to ${environmentName}: ${status}`,
    after: { ...release, environmentName, status, executionId: executionId ?? null, packages, deployedAt, ...broken },
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
    deployedBy,
    ...broken,
  });
  if (isFirst)
    emitEvent(tx, 'release.created', { ...release, candidateId, environmentName, packages, by: tx.actor.email });
}
