import { makeApprovalsStale } from '../approvals/approvals.mutations.ts';
import { canonicalJson } from '../audit/audit-rules.ts';
import { domainNames, isProtectedBranch } from '../projects/project-rules.ts';
import { projectInRequest, type ProjectFacts } from '../projects/projects.queries.ts';
import { DomainError, invalidField, versionConflict } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent, type EventData } from '../webhooks/event-catalog.ts';
import {
  ABORTED,
  assertNotFinal,
  decideMove,
  FINALIZED,
  isKnownStatus,
  NEW_CANDIDATE,
} from './candidate-status-rules.ts';
import { changePackages, type PackageChanges, type ReleaseDefinition, unknownPackages } from './comparison-rules.ts';
import {
  type CandidateName,
  type CandidateOfProject,
  type CandidateRow,
  candidateById,
  candidateByName,
  deleteCandidates,
  findCandidate,
  insertCandidate,
  lockCandidatesOfBranch,
  lockDomain,
  updateContent,
  updateStatus,
} from './release-candidates.queries.ts';

/** What of a project its candidates depend on. */
type ProjectOfCandidate = Pick<ProjectFacts, 'identifier' | 'configuration'>;

const stateOf = ({ id, domain, releaseName, branch, tag, commitSha, status, value, version }: CandidateRow) => ({
  id,
  domain,
  releaseName,
  branch,
  tag,
  commitSha,
  status,
  value,
  version,
});

const PACKAGES_CHANGED = 'The packages of the release candidate changed';

/** What of a definition is deployed. */
const packagesOf = ({ artifacts, packageDependencies }: ReleaseDefinition) => ({ artifacts, packageDependencies });

const eventOf = (
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

const audit = (
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

export interface NameInRepository extends CandidateName {
  repositoryIdentifier: string;
}

export interface CandidateInput extends NameInRepository {
  commitSha: string;
  branch?: string | null | undefined;
  tag?: string | null | undefined;
  status?: string | undefined;
  /** Of the candidate as the caller knows it; another one is a conflict. */
  version?: number | undefined;
  value: ReleaseDefinition & Record<string, unknown>;
}

/**
 * Creates the candidate of that name, or updates the existing one. Throws `version_conflict`, `locked` for a candidate
 * whose content may not change, `invalid_transition`, and `invalid_request` for its repository, domain or status.
 */
export async function saveCandidate(tx: Tx, input: CandidateInput): Promise<CandidateOfProject> {
  const project = await projectInRequest(tx, input.repositoryIdentifier);
  const domains = domainNames(project.configuration);
  if (domains.length > 0 && !domains.includes(input.domain)) {
    throw invalidField('domain', `${input.domain} is not a domain of the project: ${domains.join(', ')}`);
  }
  await lockDomain(tx, project.id, input.domain);
  const existing = await findCandidate(tx, project.id, input);
  const candidate = existing
    ? await updateCandidate(tx, project, existing, input)
    : await createCandidate(tx, project, input);
  return { candidate, project };
}

async function createCandidate(tx: Tx, project: ProjectFacts, input: CandidateInput): Promise<CandidateRow> {
  const { version, status = NEW_CANDIDATE, branch = null, tag = null, domain, releaseName, commitSha, value } = input;
  if (version !== undefined) throw versionConflict('The release candidate', 0);
  if (!isKnownStatus(status, project.configuration.customReleaseStatuses)) {
    throw invalidField('status', `${status} is not a status of this project`);
  }
  const candidate = await insertCandidate(tx, {
    projectId: project.id,
    domain,
    releaseName,
    commitSha: commitSha.toLowerCase(),
    branch,
    tag,
    value,
    status,
    statusChangedAt: status === NEW_CANDIDATE ? null : tx.now,
  });
  audit(tx, project, candidate, 'created', 'created', { after: stateOf(candidate) });
  emitEvent(tx, 'release_candidate.created', eventOf(project, candidate));
  return candidate;
}

async function updateCandidate(
  tx: Tx,
  project: ProjectFacts,
  existing: CandidateRow,
  input: CandidateInput,
): Promise<CandidateRow> {
  const { version, status, commitSha, value, branch = existing.branch, tag = existing.tag } = input;
  assertNotFinal(existing.status, existing.releaseName);
  if (version !== undefined && version !== existing.version)
    throw versionConflict('The release candidate', existing.version);
  const content = { commitSha: commitSha.toLowerCase(), branch, tag, value };
  const before = stateOf(existing);
  let candidate = existing;
  // PostgreSQL reorders the members of a stored object: only other content is a change.
  if (canonicalJson({ ...before, ...content }) !== canonicalJson(before)) {
    candidate = await updateContent(tx, existing.id, content);
    audit(tx, project, candidate, 'updated', 'updated', { before, after: stateOf(candidate) });
    if (canonicalJson(packagesOf(value)) !== canonicalJson(packagesOf(before.value)))
      await makeApprovalsStale(tx, candidate, PACKAGES_CHANGED);
  }
  return status === undefined ? candidate : moveCandidate(tx, project, candidate, status);
}

export interface Move {
  candidate: CandidateRow;
  reason?: string | undefined;
  /** Finalized along with a newer candidate. */
  isIntermediate?: boolean;
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
    moving.map(({ candidate }) => candidate.id),
    status,
  );
  for (const move of moving) {
    const after = moved.get(move.candidate.id);
    if (after) await recordMove(tx, project, move, after);
  }
  return moves.map(({ candidate }) => moved.get(candidate.id) ?? candidate);
}

async function recordMove(
  tx: Tx,
  project: ProjectOfCandidate,
  { candidate: { status: previousStatus }, reason, isIntermediate = false }: Move,
  candidate: CandidateRow,
): Promise<void> {
  const { status } = candidate;
  const { email } = tx.actor;
  const action = status === ABORTED ? 'aborted' : 'status_changed';
  audit(tx, project, candidate, action, `moved from ${previousStatus} to ${status}`, {
    before: { status: previousStatus },
    after: { status, ...(reason !== undefined && { reason }) },
  });
  const created = eventOf(project, candidate);
  const event = { ...created, previousStatus, reason: reason ?? null, isIntermediate, changedBy: email };
  emitEvent(tx, 'release_candidate.status_changed', event);
  if (status === ABORTED) {
    emitEvent(tx, 'release_candidate.aborted', event);
    await makeApprovalsStale(tx, candidate, 'The release candidate was aborted');
  }
  if (status === FINALIZED) {
    emitEvent(tx, 'release_candidate.finalized', event);
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

async function moveCandidate(
  tx: Tx,
  project: ProjectOfCandidate,
  candidate: CandidateRow,
  status: string,
  reason?: string,
): Promise<CandidateRow> {
  const [moved = candidate] = await moveCandidates(tx, project, [{ candidate, reason }], status);
  return moved;
}

/** A candidate by id, read once its domain's lock is held. Throws `not_found`. */
async function lockedById(tx: Tx, id: string): Promise<CandidateOfProject> {
  const { candidate } = await candidateById(tx, id);
  await lockDomain(tx, candidate.projectId, candidate.domain);
  return candidateById(tx, id);
}

/** Likewise, by its name. Throws `not_found`, and `invalid_request` for an unknown repository. */
async function lockedByName(tx: Tx, { repositoryIdentifier, ...name }: NameInRepository): Promise<CandidateOfProject> {
  const project = await projectInRequest(tx, repositoryIdentifier);
  await lockDomain(tx, project.id, name.domain);
  return candidateByName(tx, project, name);
}

/** Moves a candidate to a status. Throws `not_found`, `invalid_transition`, `invalid_request`. */
export async function changeStatus(tx: Tx, id: string, status: string): Promise<CandidateOfProject> {
  const { candidate, project } = await lockedById(tx, id);
  return { candidate: await moveCandidate(tx, project, candidate, status), project };
}

/** Moves the candidate of that name to a status. Throws `not_found`, `invalid_transition`, `invalid_request`. */
export async function changeStatusByName(
  tx: Tx,
  name: NameInRepository,
  { status, reason }: { status: string; reason?: string | undefined },
): Promise<CandidateOfProject> {
  const { candidate, project } = await lockedByName(tx, name);
  return { candidate: await moveCandidate(tx, project, candidate, status, reason), project };
}

/** Takes packages out of a candidate and gives others another version. Throws `not_found`, `locked`, `invalid_request`. */
export async function updatePackages(
  tx: Tx,
  name: NameInRepository,
  changes: PackageChanges,
): Promise<CandidateOfProject> {
  const { candidate, project } = await lockedByName(tx, name);
  assertNotFinal(candidate.status, candidate.releaseName);
  const { artifacts = {} } = candidate.value;
  const [unknown] = unknownPackages(artifacts, changes);
  if (unknown !== undefined) {
    const field = changes.excludePackages.includes(unknown) ? 'excludePackages' : 'versionOverrides';
    throw invalidField(field, `The release candidate holds no package ${unknown}`);
  }
  const value = { ...candidate.value, artifacts: changePackages(artifacts, changes) };
  if (canonicalJson(value) === canonicalJson(candidate.value)) return { candidate, project };
  const changed = await updateContent(tx, candidate.id, { value });
  audit(tx, project, changed, 'packages_updated', 'has other packages', {
    before: candidate.value.artifacts,
    after: value.artifacts,
  });
  await makeApprovalsStale(tx, changed, PACKAGES_CHANGED);
  return { candidate: changed, project };
}

/** Deletes a candidate; the records of its deployments stay. Throws `not_found`. */
export async function removeCandidate(tx: Tx, id: string): Promise<void> {
  const { candidate, project } = await lockedById(tx, id);
  await removeCandidates(tx, project, [candidate]);
}

/** Deletes the candidates of a branch, and answers them. Throws `protected_branch`. */
export async function removeCandidatesOfBranch(
  tx: Tx,
  repositoryIdentifier: string,
  branch: string,
): Promise<CandidateRow[]> {
  const project = await projectInRequest(tx, repositoryIdentifier);
  if (isProtectedBranch(branch, project)) {
    throw new DomainError(
      'protected_branch',
      `${branch} is a branch of the project or of its cascade; its candidates stay`,
    );
  }
  const candidates = await lockCandidatesOfBranch(tx, project.id, branch);
  await removeCandidates(tx, project, candidates);
  return candidates;
}

async function removeCandidates(tx: Tx, project: ProjectFacts, candidates: readonly CandidateRow[]): Promise<void> {
  for (const candidate of candidates) {
    audit(tx, project, candidate, 'deleted', 'deleted', { before: stateOf(candidate) });
    await makeApprovalsStale(tx, candidate, 'The release candidate was deleted');
  }
  await deleteCandidates(
    tx,
    candidates.map(({ id }) => id),
  );
}
