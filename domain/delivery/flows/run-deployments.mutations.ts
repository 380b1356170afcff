import { isTestStep } from '../apex-tests/apex-test-rules.ts';
import { statusOfDeployment } from '../deployments/deployments.queries.ts';
import { projectById } from '../../projects/projects/projects.queries.ts';
import { storeDeploymentOfRun } from '../release-candidates/deployment-reports.mutations.ts';
import { isSuccess } from '../release-candidates/finalization-rules.ts';
import { keepCandidate, lockDomain } from '../release-candidates/candidate-locks.queries.ts';
import { findCandidate } from '../release-candidates/release-candidates.queries.ts';
import { annotateRollback, type RollbackReport } from '../releases/releases.mutations.ts';
import { targetOfRollback } from '../releases/rollbacks/rollback-targets.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import type { RunContext } from './flow-runs.queries.ts';
import { flowType } from './flow-types.ts';
import { type DeployedContent, deploymentStatusOf, hasWorkBegun } from './run-deployment-rules.ts';
import { approvalGivenTo, environmentsOfProject, keepContent, workOfRun } from './run-deployments.queries.ts';
import type { FinalStatus } from './run-status-rules.ts';
import type { RunOutcome } from './flow-runs.mutations.ts';
import { arrivalsOf, hasChangedOrg } from '../org-releases/arrivals.ts';
import { stepsOfRun } from '../org-steps/org-steps.queries.ts';
import { isOutdatedReaction } from '../verification/verifications.queries.ts';

type DeployingRun = Pick<
  RunContext,
  | 'id'
  | 'taskType'
  | 'projectId'
  | 'repositoryIdentifier'
  | 'environmentName'
  | 'domain'
  | 'releaseName'
  | 'triggeredBy'
  | 'requestId'
>;

/** Whether runs of a type deploy a release, themselves or, as a whole, in place of their children. */
const mayDeploy = (taskType: string): boolean => {
  const type = flowType(taskType);
  return type !== undefined && (type.isDeployment || type.own === 'children');
};

async function contentOf(
  tx: Tx,
  { projectId, domain, releaseName }: DeployingRun,
  environmentIds: readonly string[],
): Promise<DeployedContent | undefined> {
  if (projectId === null || domain === null || releaseName === null || environmentIds.length === 0) return undefined;
  const candidate = await findCandidate(tx, projectId, { domain, releaseName });
  return {
    environmentIds,
    candidateId: candidate?.id ?? null,
    contentDigest: candidate?.contentDigest ?? 'unknown',
    artifacts: candidate?.value.artifacts ?? {},
  };
}

/**
 * Records what a run deploys whose work begins: its deployment is one of this content, whatever becomes of the candidate.
 * Throws `invalid_transition` for a rollback that has nothing to roll back to any more, or that would take back something
 * other than what was not verified.
 * @param environmentIds all that the run is about; a run of a type that deploys to one environment names that first.
 */
export async function keepDeployedContent(tx: Tx, run: DeployingRun, environmentIds: readonly string[]): Promise<void> {
  if (!mayDeploy(run.taskType)) return;
  const targets = flowType(run.taskType)?.isDeployment ? environmentIds.slice(0, 1) : environmentIds;
  const content = await contentOf(tx, run, targets);
  if (!content) return;
  const rolledBackFrom = await takenBackBy(tx, run, content);
  // What a rollback takes back is known only now: something good may have been deployed while it waited.
  if (rolledBackFrom !== undefined && (await isOutdatedReaction(tx, run.id)))
    throw new DomainError(
      'invalid_transition',
      'Something else was deployed since the verification failed for which this rollback was started',
    );
  await keepContent(tx, run.id, rolledBackFrom === undefined ? content : { ...content, rolledBackFrom });
}

/** The release that a run takes back, as things are now; undefined: it is no rollback. */
async function takenBackBy(
  tx: Tx,
  { taskType, domain, releaseName }: DeployingRun,
  { environmentIds: [environmentId] }: DeployedContent,
): Promise<string | null | undefined> {
  if (!flowType(taskType)?.isRollback || environmentId === undefined || domain === null) return undefined;
  return (await targetOfRollback(tx, { environmentId, domain }, releaseName ?? undefined)).rolledBackFrom;
}

type Ended = Pick<RunOutcome, 'status' | 'code' | 'error'>;

/** How far the work of a run came, with what it did in its org; undefined: nothing can have been deployed. */
async function workBegun(tx: Tx, id: string, { status }: Ended) {
  const work = await workOfRun(tx, id);
  if (!work) return undefined;
  const steps = work.hasWorkflow ? (await stepsOfRun(tx, id)).filter((step) => !isTestStep(step)) : [];
  const hasBegun = hasWorkBegun(work) || hasChangedOrg(steps);
  return hasBegun || (steps.length > 0 && status === 'succeeded') ? { work, steps } : undefined;
}

function metadataOf(
  { taskType }: DeployingRun,
  { startedAt: at, now }: { startedAt: string | null; now: number },
  { code, error }: Ended,
) {
  const startedAt = at === null ? null : isoOf(at);
  const durationMs = startedAt === null ? null : Math.max(0, now - Date.parse(startedAt));
  return { taskType, startedAt, durationMs, ...(code === 'unknown_outcome' && { code, error }) };
}

/**
 * Records the deployment of a run whose work has ended, unless that was reported before: it is one event with those whose
 * `executionId` is the run's id. False when nothing is recorded: the work never began, or its environments are gone.
 */
export async function recordDeployment(tx: Tx, run: DeployingRun, outcome: Ended): Promise<boolean> {
  const { id, projectId, repositoryIdentifier, domain, releaseName, triggeredBy, requestId } = run;
  if (!mayDeploy(run.taskType)) return false;
  if (projectId === null || repositoryIdentifier === null || domain === null || releaseName === null) return false;
  const begun = await workBegun(tx, id, outcome);
  if (!begun) return false;
  const { work, steps } = begun;
  const content = work.deploys ?? (await contentOf(tx, run, work.environmentId === null ? [] : [work.environmentId]));
  if (!content) return false;
  const arrivals = steps.length > 0 ? arrivalsOf(steps, content.artifacts) : undefined;
  const deploymentStatus = deploymentStatusOf(outcome.status, steps);
  const approval = await approvalGivenTo(tx, id);
  const deployedAt = new Date(work.now);
  const report = {
    repositoryIdentifier,
    domain,
    releaseName,
    deploymentStatus,
    executionId: id,
    deployedAt,
    deployedBy: triggeredBy,
    // Where nobody said which packages, none is claimed.
    packages: deploymentStatus === 'Partial' ? (arrivals?.packages ?? {}) : undefined,
    packageDetails: arrivals?.details,
    metadata: metadataOf(run, work, outcome),
    approval: approval && { ...approval, source: 'flow' },
  };
  const environments = await environmentsOfProject(tx, projectId, content.environmentIds);
  if (environments.length === 0) return false;
  const { contentDigest, artifacts, rolledBackFrom } = content;
  // Before its rows, as every change of the domain's candidates does.
  if (rolledBackFrom) await lockDomain(tx, projectId, domain);
  // It may have been deleted, or made anew, since the work began.
  const candidateId = content.candidateId === null ? null : await keepCandidate(tx, projectId, { domain, releaseName });
  for (const environment of environments) {
    const { id: environmentId, name: environmentName } = environment;
    const place = { projectId, environmentId, candidateId, contentDigest, artifacts };
    // What an external worker executes passed no gates here.
    const policed = work.hasWorkflow ? undefined : environment;
    const stored = await storeDeploymentOfRun(tx, place, { ...report, environmentName }, requestId, policed);
    if (stored.isNew) tx.after('deployment', { projectId, repositoryIdentifier, domain, deploymentId: stored.id });
    const status = rolledBackFrom ? await statusOfDeployment(tx, stored.id) : undefined;
    if (!rolledBackFrom || !status || !isSuccess(status)) continue;
    await recordRollback(tx, projectId, {
      environment: environmentName,
      domain,
      target: releaseName,
      rolledBackFrom,
      rolledBackBy: triggeredBy,
    });
  }
  return true;
}

/** What events of the deployment of a run have in common; undefined: it is none. */
const deploymentEventOf = ({
  id: executionId,
  taskType,
  repositoryIdentifier,
  environmentName,
  domain,
  releaseName,
  triggeredBy: deployedBy,
}: DeployingRun) =>
  flowType(taskType)?.isDeployment &&
  repositoryIdentifier !== null &&
  environmentName !== null &&
  domain !== null &&
  releaseName !== null
    ? { repositoryIdentifier, domain, releaseName, environmentName, executionId, deployedBy }
    : undefined;

/** Announces that the deployment of a run began. */
export function announceDeployment(tx: Tx, run: DeployingRun, startedAt: string | null): void {
  const event = deploymentEventOf(run);
  if (event) emitEvent(tx, 'deployment.started', { ...event, status: 'Running', startedAt });
}

/** Announces the end of a deployment that began and is not recorded; what is recorded is announced by that. */
export async function announceUnrecorded(
  tx: Tx,
  run: DeployingRun,
  { status, startedAt, endedAt }: { status: FinalStatus; startedAt: string | null; endedAt: string | null },
): Promise<void> {
  if (!flowType(run.taskType)?.isDeployment) return;
  const work = await workOfRun(tx, run.id);
  if (!work?.hasWorkflow) return;
  const event = deploymentEventOf({ ...run, environmentName: run.environmentName ?? work.environmentName });
  if (!event) return;
  const deploymentStatus = deploymentStatusOf(status);
  emitEvent(tx, isSuccess(deploymentStatus) ? 'deployment.completed' : 'deployment.failed', {
    ...event,
    status: deploymentStatus,
    startedAt,
    deployedAt: endedAt,
  });
}

async function recordRollback(tx: Tx, projectId: string, report: RollbackReport): Promise<void> {
  const project = await projectById(tx, projectId);
  if (!project) return;
  try {
    await annotateRollback(tx, project, report);
  } catch (error) {
    // What was taken back may be gone by now; the run has ended all the same.
    if (!(error instanceof DomainError)) throw error;
  }
}
