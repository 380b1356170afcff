import { type StoredDeployment, storedReport, storeOutcome } from '../deployments/deployments.queries.ts';
import { factsFrom } from '../deployments/deployment-facts.ts';
import { ownReports, type ReportRow } from '../deployments/deployment-facts.queries.ts';
import { listEnvironments } from '../../projects/environments/environments.queries.ts';
import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import type { Cause, Tx } from '../../unit-of-work.ts';
import { FINALIZED } from './candidate-status-rules.ts';
import { type DeploymentReport, deploymentOf } from './deployment-reports.mutations.ts';
import { decideEvent, type DeploymentStatus, type EnvironmentFacts, type EventOutcome } from './finalization-rules.ts';
import { moveCandidates } from './candidate-status.mutations.ts';
import { lockDomain } from './candidate-locks.queries.ts';
import { candidateById, type CandidateRow } from './release-candidates.queries.ts';
import { olderOpenCandidates } from './candidate-status.queries.ts';
import { lockEvent } from './release-events.queries.ts';

const CANDIDATE_GONE: EventOutcome = {
  updated: false,
  previousStatus: '',
  newStatus: '',
  intermediateCandidatesFinalized: false,
  finalizationPending: false,
  missingEnvironments: [],
  missing: [],
  message: 'The candidate was removed before the event was applied',
};

/** A stored release event, and who reported it. */
export interface StoredEvent extends Cause {
  id: string;
}

/**
 * Applies stored release events of a domain one after another, each in the name of who reported it and once, whatever
 * the number of calls. Answers what each came to, then and at every retry; without those whose project was removed.
 */
export async function applyEvents(
  tx: Tx,
  { projectId, domain }: { projectId: string; domain: string },
  events: readonly StoredEvent[],
): Promise<Record<string, EventOutcome>> {
  // Before the events' rows, as every change of the domain's candidates does: to delete one changes the rows of its events.
  await lockDomain(tx, projectId, domain);
  const outcomes: Record<string, EventOutcome> = {};
  for (const { id, ...cause } of events) {
    const outcome = await applyEvent(tx.inNameOf(cause), id);
    if (outcome) outcomes[id] = outcome;
  }
  return outcomes;
}

async function applyEvent(tx: Tx, deploymentId: string): Promise<EventOutcome | undefined> {
  const event = await lockEvent(tx, deploymentId);
  if (!event) return undefined;
  const { project, candidate } = event;
  if (event.isApplied) return event.outcome ?? CANDIDATE_GONE;
  if (!candidate) {
    await storeOutcome(tx, deploymentId, CANDIDATE_GONE);
    return CANDIDATE_GONE;
  }
  const outcome = await decideFor(tx, project, candidate, event);
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
  for (const run of event.waitingRuns) tx.after('run', run);
  return outcome;
}

/** Later than every report that is stored. */
const COMES_LAST = { id: 'ffffffff-ffff-ffff-ffff-ffffffffffff', receivedAt: Date.UTC(9999, 0) };

/**
 * What a reported deployment would come to now; changes nothing. A report that was stored before would change nothing,
 * either. Throws `invalid_request`, `not_found`.
 */
export async function previewEvent(
  tx: Tx,
  report: DeploymentReport,
): Promise<EventOutcome & Pick<StoredDeployment, 'policyViolations'>> {
  const { deployment } = await deploymentOf(tx, report);
  const { candidateId, dedupeKey } = deployment;
  const known = dedupeKey === undefined ? undefined : await storedReport(tx, { ...deployment, dedupeKey });
  const { policyViolations } = known ?? deployment;
  if (known?.outcome) return { ...known.outcome, updated: false, policyViolations };
  const { candidate, project } = await candidateById(tx, candidateId);
  const environments = await listEnvironments(tx, project.id, 'release');
  const stored = await ownReports(
    tx,
    [candidate],
    environments.map(({ id }) => id),
  );
  const next: ReportRow = {
    ...deployment,
    ...COMES_LAST,
    deployedAt: deployment.deployedAt.getTime(),
    isRolledBack: deployment.rolledBackAt !== null,
  };
  const outcome = await decideFor(tx, project, candidate, {
    deploymentStatus: known?.status ?? deployment.status,
    deployedDigest: known?.contentDigest ?? deployment.contentDigest,
    environments,
    reports: known ? stored : [...stored, next],
  });
  if (known) return { ...outcome, updated: false, policyViolations };
  const older = await finalizedAlong(tx, candidate, project.defaultBranch, outcome);
  return { ...outcome, intermediateCandidatesFinalized: older.length > 0, policyViolations };
}

/** The older candidates that an outcome finalizes, too. */
const finalizedAlong = async (
  tx: Tx,
  candidate: CandidateRow,
  defaultBranch: string,
  { updated, newStatus }: EventOutcome,
): Promise<CandidateRow[]> =>
  updated && newStatus === FINALIZED ? olderOpenCandidates(tx, candidate, defaultBranch) : [];

async function decideFor(
  tx: Tx,
  { defaultBranch, configuration }: Pick<ProjectFacts, 'defaultBranch' | 'configuration'>,
  candidate: CandidateRow,
  {
    deploymentStatus,
    deployedDigest,
    environments,
    reports,
  }: {
    deploymentStatus: DeploymentStatus;
    deployedDigest: string | null;
    environments: readonly EnvironmentFacts[];
    /** Reports of the candidate, the event's own included. */
    reports: readonly ReportRow[];
  },
): Promise<EventOutcome> {
  const facts = await factsFrom(tx, [candidate], reports);
  return decideEvent({
    candidateStatus: candidate.status,
    branch: candidate.branch ?? defaultBranch,
    deploymentStatus,
    isAutoFinalizing: configuration.autoReleaseFinalization === true,
    isOtherContent: deployedDigest !== candidate.contentDigest,
    environments,
    factOf: (environmentId) => facts(candidate.id, environmentId),
  });
}
