import { makeApprovalsStale } from '../approvals/approvals.mutations.ts';
import { renameApprovedContent } from '../approvals/approvals.queries.ts';
import { canonicalJson } from '../../kernel/audit/audit-rules.ts';
import { renameContent } from '../deployments/deployments.queries.ts';
import { commitNumbers, commitShas } from '../../code/git/commits.queries.ts';
import { domainNames, isProtectedBranch } from '../../projects/projects/project-rules.ts';
import { projectInRequest, type ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { DomainError, invalidField, versionConflict } from '../../kernel/shared/errors.ts';
import { didYouMean } from '../../kernel/text/suggestion-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import {
  assertFinalizedBy,
  auditCandidate,
  eventOf,
  lockedById,
  lockedByName,
  moveCandidate,
  type NameInRepository,
  signalWaitingRuns,
} from './candidate-status.mutations.ts';
import { assertNotFinal, isKnownStatus, NEW_CANDIDATE, unknownStatus } from './candidate-status-rules.ts';
import { changePackages, type PackageChanges, type ReleaseDefinition, unknownPackages } from './comparison-rules.ts';
import { lockCandidatesOfBranch, lockDomain } from './candidate-locks.queries.ts';
import {
  type CandidateOfProject,
  type CandidateRow,
  deleteCandidates,
  findCandidate,
  insertCandidate,
  updateContent,
} from './release-candidates.queries.ts';

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

export interface CandidateInput extends NameInRepository {
  commitSha: string;
  branch?: string | null | undefined;
  tag?: string | null | undefined;
  status?: string | undefined;
  /** Version of the candidate as the caller knows it; another one is a conflict. */
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
    throw invalidField(
      'domain',
      `${input.domain} is not a domain of the project: ${domains.join(', ')}${didYouMean(input.domain, domains)}`,
    );
  }
  await lockDomain(tx, project.id, input.domain);
  const existing = await findCandidate(tx, project.id, input);
  const candidate = existing
    ? await updateCandidate(tx, project, existing, input)
    : await createCandidate(tx, project, input);
  return { candidate, project };
}

async function createCandidate(tx: Tx, project: ProjectFacts, input: CandidateInput): Promise<CandidateRow> {
  const { version, status = NEW_CANDIDATE, branch = null, tag = null, domain, releaseName, value } = input;
  if (version !== undefined) throw versionConflict('The release candidate', 0);
  if (!isKnownStatus(status, project.configuration.customReleaseStatuses)) {
    throw unknownStatus(status, project.configuration.customReleaseStatuses);
  }
  assertFinalizedBy(tx, project, undefined, status);
  const candidate = await insertCandidate(tx, {
    projectId: project.id,
    domain,
    releaseName,
    commitSha: await fullCommit(tx, project.id, input.commitSha),
    branch,
    tag,
    value,
    status,
    statusChangedAt: status === NEW_CANDIDATE ? null : tx.now,
  });
  auditCandidate(tx, project, candidate, 'created', 'created', { after: stateOf(candidate) });
  emitEvent(tx, 'release_candidate.created', eventOf(project, candidate));
  return candidate;
}

async function updateCandidate(
  tx: Tx,
  project: ProjectFacts,
  existing: CandidateRow,
  input: CandidateInput,
): Promise<CandidateRow> {
  const { version, status, value, branch = existing.branch, tag = existing.tag } = input;
  assertNotFinal(existing.status, existing.releaseName);
  if (status !== undefined) assertFinalizedBy(tx, project, existing.status, status);
  if (version !== undefined && version !== existing.version)
    throw versionConflict('The release candidate', existing.version);
  const given = await fullCommit(tx, project.id, input.commitSha);
  // An id that abbreviates the one that is kept names no other commit, even if the repository no longer knows it.
  const commitSha = existing.commitSha.startsWith(given) ? existing.commitSha : given;
  const content = { commitSha, branch, tag, value };
  const before = stateOf(existing);
  let candidate = existing;
  // PostgreSQL reorders the members of a stored object: only other content is a change.
  if (canonicalJson({ ...before, ...content }) !== canonicalJson(before)) {
    candidate = await updateContent(tx, existing.id, content);
    await signalWaitingRuns(tx, candidate);
    auditCandidate(tx, project, candidate, 'updated', 'updated', { before, after: stateOf(candidate) });
    if (canonicalJson(packagesOf(value)) !== canonicalJson(packagesOf(before.value)))
      await makeApprovalsStale(tx, candidate, PACKAGES_CHANGED);
    if (status === undefined) return followContent(tx, project, existing, candidate);
    await keepDeployments(tx, existing, candidate);
  }
  return status === undefined ? candidate : moveCandidate(tx, project, candidate, status);
}

const FULL_LENGTHS: ReadonlySet<number> = new Set([40, 64]);

/** The full id of a commit, as far as the repository is known; else as it is given. */
async function fullCommit(tx: Tx, projectId: string, given: string): Promise<string> {
  const sha = given.toLowerCase();
  if (FULL_LENGTHS.has(sha.length)) return sha;
  const number = (await commitNumbers(tx, projectId, [sha])).get(sha);
  return (number !== undefined && (await commitShas(tx, projectId, [number])).get(number)) || sha;
}

/**
 * Whether two states of a candidate have the same content. Deployments and approvals of one whose commit is only named in
 * full now are kept.
 */
async function keepDeployments(tx: Tx, before: CandidateRow, after: CandidateRow): Promise<boolean> {
  if (before.contentDigest === after.contentDigest) return true;
  const isSame =
    after.commitSha.startsWith(before.commitSha) &&
    canonicalJson(before.value.artifacts ?? {}) === canonicalJson(after.value.artifacts ?? {});
  if (isSame) {
    const digests = { from: before.contentDigest, to: after.contentDigest };
    await renameContent(tx, after.id, digests);
    await renameApprovedContent(tx, after, digests);
  }
  return isSame;
}

/** Other content has been deployed nowhere: its candidate is pending again. */
const followContent = async (
  tx: Tx,
  project: ProjectFacts,
  before: CandidateRow,
  after: CandidateRow,
): Promise<CandidateRow> =>
  (await keepDeployments(tx, before, after))
    ? after
    : moveCandidate(tx, project, after, NEW_CANDIDATE, 'Its content changed');

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
  auditCandidate(tx, project, changed, 'packages_updated', 'has other packages', {
    before: candidate.value.artifacts,
    after: value.artifacts,
  });
  await makeApprovalsStale(tx, changed, PACKAGES_CHANGED);
  await signalWaitingRuns(tx, changed);
  return { candidate: await followContent(tx, project, candidate, changed), project };
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
    auditCandidate(tx, project, candidate, 'deleted', 'deleted', { before: stateOf(candidate) });
    await makeApprovalsStale(tx, candidate, 'The release candidate was deleted');
    await signalWaitingRuns(tx, candidate);
  }
  await deleteCandidates(
    tx,
    candidates.map(({ id }) => id),
  );
}
