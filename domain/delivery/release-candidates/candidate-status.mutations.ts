import { makeApprovalsStale } from '../approvals/approvals.mutations.ts';
import { deploymentFacts } from '../deployments/deployment-facts.ts';
import { listEnvironments } from '../../projects/environments/environments.queries.ts';
import { projectInRequest, type ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { runsWaitingWith } from '../promotion/promotion.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent, type EventData } from '../../events/webhooks/event-catalog.ts';
import { ABORTED, assertMayFinalize, decideMove, FINALIZED, isFinal } from './candidate-status-rules.ts';
import { lockDomain } from './candidate-locks.queries.ts';
import { changeHolds } from './holds/hold-changes.mutations.ts';
import {
  type CandidateName,
  type CandidateOfProject,
  type CandidateRow,
  candidateById,
  candidateByName,
} from './release-candidates.queries.ts';
import { updateStatus } from './candidate-status.queries.ts';

export interface NameInRepository extends CandidateName {
  repositoryIdentifier: string;
}

/** What of a project its candidates depend on. */
type ProjectOfCandidate = Pick<ProjectFacts, 'identifier' | 'configuration'>;

/** What events say of a candidate. */
export const eventOf = (
  { identifier }: ProjectOfCandidate,
  { id, domain, releaseName, branch, tag, commitSha, status, value }: CandidateRow,
): EventData<'release_candidate.created'> => ({
  id,
  repositoryIdentifier: identifier,
  domain,
  releaseName,
  branch,
  tag,
  commitSha,
  status,
  packages: value.artifacts ?? {},
});

/** Writes to the audit trail what happened to a candidate. */
export const auditCandidate = (
  tx: Tx,
  { identifier }: ProjectOfCandidate,
  { id, domain, releaseName }: CandidateRow,
  action: string,
  summary: string,
  change: { before?: unknown; after?: unknown },
) =>
  tx.audit({
    source: 'release',
    action: `release_candidate.${action}`,
    entityType: 'release_candidate',
    entityId: id,
    repositoryIdentifier: identifier,
    summary: `Release candidate ${releaseName} of ${domain} ${summary}`,
    ...change,
  });

/** Runs that wait with a candidate look again whether they may go. */
export async function signalWaitingRuns(tx: Tx, candidate: CandidateRow): Promise<void> {
  for (const run of await runsWaitingWith(tx, candidate.projectId, candidate)) tx.after('run', run);
}

export interface Move {
  candidate: CandidateRow;
  reason?: string | undefined;
  /** Name of the newer release along with which it is finalized. */
  supersededBy?: string | undefined;
  /** Absent: looked up when it decides whether the release is published. */
  isDeployed?: boolean;
}

/**
 * Moves candidates to a status, with the audit entries and events that follow; those that have it already are left
 * alone. Answers the candidates as they are then. The domains' locks must be held.
 */
export async function moveCandidates(
  tx: Tx,
  project: ProjectOfCandidate,
  moves: readonly Move[],
  status: string,
): Promise<CandidateRow[]> {
  const { customReleaseStatuses } = project.configuration;
  const moving = moves.filter(({ candidate }) => decideMove(candidate.status, status, customReleaseStatuses));
  const moved = await updateStatus(
    tx,
    moving.map(({ candidate: { id }, supersededBy }) => ({ id, supersededBy })),
    status,
  );
  const deployed = status === FINALIZED ? await deployedOf(tx, moving) : new Set<string>();
  for (const move of moving) {
    const after = moved.get(move.candidate.id);
    if (!after) continue;
    await recordMove(tx, project, move, after, deployed.has(after.id));
    if (isFinal(status)) moved.set(after.id, await endOwnHold(tx, project, after));
  }
  return moves.map(({ candidate }) => moved.get(candidate.id) ?? candidate);
}

/** What is final is held by nobody; what a verification holds stays held. */
async function endOwnHold(tx: Tx, project: ProjectOfCandidate, candidate: CandidateRow): Promise<CandidateRow> {
  const own = candidate.holds.filter(({ verification }) => verification === undefined);
  if (own.length === 0) return candidate;
  const rest = candidate.holds.filter((each) => !own.includes(each));
  const ended = own.map((stored) => ({ hold: { stored, environment: null }, end: 'final' as const }));
  return changeHolds(tx, project, candidate, rest, { ended });
}

/** Ids of the candidates that are deployed in an active release environment. */
async function deployedOf(tx: Tx, moves: readonly Move[]): Promise<Set<string>> {
  const known = moves.filter(({ isDeployed }) => isDeployed);
  const unknown = moves.filter(({ isDeployed }) => isDeployed === undefined).map(({ candidate }) => candidate);
  const [first] = unknown;
  const environments = first ? await listEnvironments(tx, first.projectId, 'release') : [];
  const active = environments.filter(({ isActive }) => isActive).map(({ id }) => id);
  const facts = await deploymentFacts(tx, unknown, active);
  const found = unknown.filter(({ id }) => active.some((environmentId) => facts(id, environmentId).isDeployed));
  return new Set([...known.map(({ candidate }) => candidate.id), ...found.map(({ id }) => id)]);
}

async function recordMove(
  tx: Tx,
  project: ProjectOfCandidate,
  { candidate: { status: previousStatus }, reason, supersededBy }: Move,
  candidate: CandidateRow,
  isDeployed: boolean,
): Promise<void> {
  const { status } = candidate;
  const { email } = tx.actor;
  const action = status === ABORTED ? 'aborted' : 'status_changed';
  auditCandidate(tx, project, candidate, action, `moved from ${previousStatus} to ${status}`, {
    before: { status: previousStatus },
    after: { status, ...(reason !== undefined && { reason }) },
  });
  const created = eventOf(project, candidate);
  const event = {
    ...created,
    previousStatus,
    reason: reason ?? null,
    isIntermediate: supersededBy !== undefined,
    supersededBy: supersededBy ?? null,
    changedBy: email,
  };
  emitEvent(tx, 'release_candidate.status_changed', event);
  if (status === ABORTED) {
    emitEvent(tx, 'release_candidate.aborted', event);
    await makeApprovalsStale(tx, candidate, 'The release candidate was aborted');
    await signalWaitingRuns(tx, candidate);
  }
  if (status === FINALIZED) {
    emitEvent(tx, 'release_candidate.finalized', event);
  }
  if (status === FINALIZED && isDeployed) {
    const { id: candidateId, repositoryIdentifier, domain, releaseName, branch, commitSha, packages } = created;
    emitEvent(tx, 'release.published', {
      repositoryIdentifier,
      domain,
      releaseName,
      candidateId,
      branch,
      commitSha,
      packages,
      by: email,
    });
  }
}

/** Moves one candidate, as `moveCandidates` does. */
export async function moveCandidate(
  tx: Tx,
  project: ProjectOfCandidate,
  candidate: CandidateRow,
  status: string,
  reason?: string,
): Promise<CandidateRow> {
  const [moved = candidate] = await moveCandidates(tx, project, [{ candidate, reason }], status);
  return moved;
}

/** Throws `invalid_transition` where a request would finalize a candidate that its project does not let the actor finalize. */
export function assertFinalizedBy(
  { actor }: Pick<Tx, 'actor'>,
  { configuration }: ProjectOfCandidate,
  before: string | undefined,
  status: string,
): void {
  if (status === FINALIZED && before !== FINALIZED)
    assertMayFinalize(configuration.manualFinalization, { isOwner: actor.role === 'owner' });
}

/** A candidate by id, read once its domain's lock is held. Throws `not_found`. */
export async function lockedById(tx: Tx, id: string): Promise<CandidateOfProject> {
  const { candidate } = await candidateById(tx, id);
  await lockDomain(tx, candidate.projectId, candidate.domain);
  return candidateById(tx, id);
}

/** A candidate by its name, with its row locked. Throws `not_found`, and `invalid_request` for an unknown repository. */
export async function lockedByName(
  tx: Tx,
  { repositoryIdentifier, ...name }: NameInRepository,
): Promise<CandidateOfProject> {
  const project = await projectInRequest(tx, repositoryIdentifier);
  await lockDomain(tx, project.id, name.domain);
  return candidateByName(tx, project, name);
}

/** Moves a candidate to a status. Throws `not_found`, `invalid_transition`, `invalid_request`. */
export async function changeStatus(tx: Tx, id: string, status: string): Promise<CandidateOfProject> {
  const { candidate, project } = await lockedById(tx, id);
  assertFinalizedBy(tx, project, candidate.status, status);
  return { candidate: await moveCandidate(tx, project, candidate, status), project };
}

/** Moves the candidate of that name to a status. Throws `not_found`, `invalid_transition`, `invalid_request`. */
export async function changeStatusByName(
  tx: Tx,
  name: NameInRepository,
  { status, reason }: { status: string; reason?: string | undefined },
): Promise<CandidateOfProject> {
  const { candidate, project } = await lockedByName(tx, name);
  assertFinalizedBy(tx, project, candidate.status, status);
  return { candidate: await moveCandidate(tx, project, candidate, status, reason), project };
}
