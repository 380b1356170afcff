import { makeApprovalsStale } from '../approvals/settle-approval.ts';
import { canonicalJson } from '../audit/audit-rules.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import { DomainError, invalidField, versionConflict } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import type { EventData } from '../webhooks/event-catalog.ts';
import {
  ABORTED,
  decideMove,
  FINALIZED,
  isKnownStatus,
  NEW_CANDIDATE,
  assertNotFinal,
} from './candidate-status-rules.ts';
import { changePackages, type PackageChanges, type ReleaseDefinition, unknownPackages } from './comparison-rules.ts';
import { ReleaseCandidate } from './release-candidates.entities.ts';
import { findCandidate, lockDomain } from './release-candidates.queries.ts';

export interface CandidateInput {
  domain: string;
  releaseName: string;
  commitSha: string;
  branch?: string | null | undefined;
  tag?: string | null | undefined;
  status?: string | undefined;
  /** Of the candidate as the caller knows it; another one is a conflict. */
  version?: number | undefined;
  value: ReleaseDefinition & Record<string, unknown>;
}

type Facts = Pick<
  ReleaseCandidate,
  'id' | 'domain' | 'releaseName' | 'branch' | 'tag' | 'commitSha' | 'status' | 'value' | 'version'
>;

const stateOf = ({ id, domain, releaseName, branch, tag, commitSha, status, value, version }: Facts) => ({
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
const packagesOf = ({ artifacts, packageDependencies }: Facts['value']) => ({ artifacts, packageDependencies });

const eventOf = (
  project: ProjectFacts,
  candidate: Facts,
  more: object = {},
): EventData<'release_candidate.created'> => ({
  id: candidate.id,
  repositoryIdentifier: project.identifier,
  domain: candidate.domain,
  releaseName: candidate.releaseName,
  branch: candidate.branch ?? null,
  tag: candidate.tag ?? null,
  commitSha: candidate.commitSha,
  status: candidate.status,
  packages: candidate.value.artifacts ?? {},
  ...more,
});

function audit(
  tx: Tx,
  project: ProjectFacts,
  candidate: Facts,
  action: string,
  summary: string,
  change: { before?: unknown; after?: unknown },
) {
  tx.audit({
    source: 'release',
    action: `release_candidate.${action}`,
    entityType: 'release_candidate',
    entityId: candidate.id,
    repositoryIdentifier: project.identifier,
    summary: `Release candidate ${candidate.releaseName} of ${candidate.domain} ${summary}`,
    ...change,
  });
}

/**
 * Creates the candidate of that name, or updates the one that there is. Throws `version_conflict`, `locked` for a
 * candidate whose content may not change, `invalid_transition` and `invalid_request` for its status.
 */
export async function saveCandidate(tx: Tx, project: ProjectFacts, input: CandidateInput): Promise<ReleaseCandidate> {
  await lockDomain(tx, project.id, input.domain);
  const existing = await findCandidate(tx, project.id, input);
  return existing ? updateCandidate(tx, project, existing, input) : createCandidate(tx, project, input);
}

async function createCandidate(tx: Tx, project: ProjectFacts, input: CandidateInput): Promise<ReleaseCandidate> {
  const { version, status = NEW_CANDIDATE, branch = null, tag = null, ...fields } = input;
  if (version !== undefined) throw versionConflict('The release candidate', 0);
  if (!isKnownStatus(status, project.configuration.customReleaseStatuses)) {
    throw invalidField('status', `${status} is not a status of this project`);
  }
  const { email } = tx.actor;
  const candidate = tx.em.create(ReleaseCandidate, {
    ...fields,
    commitSha: fields.commitSha.toLowerCase(),
    branch,
    tag,
    status,
    tenantId: tx.tenantId,
    projectId: project.id,
    createdBy: email,
    updatedBy: email,
    ...(status !== NEW_CANDIDATE && { statusChangedAt: tx.now, statusChangedBy: email }),
  });
  await tx.em.flush();
  audit(tx, project, candidate, 'created', 'created', { after: stateOf(candidate) });
  emitEvent(tx, 'release_candidate.created', eventOf(project, candidate));
  return candidate;
}

async function updateCandidate(
  tx: Tx,
  project: ProjectFacts,
  candidate: ReleaseCandidate,
  input: CandidateInput,
): Promise<ReleaseCandidate> {
  const { version, status, commitSha, value, branch = candidate.branch, tag = candidate.tag } = input;
  assertNotFinal(candidate.status, candidate.releaseName);
  if (version !== undefined && version !== candidate.version)
    throw versionConflict('The release candidate', candidate.version);
  const before = stateOf(candidate);
  const after = { ...before, commitSha: commitSha.toLowerCase(), value, branch: branch ?? null, tag: tag ?? null };
  // PostgreSQL orders the members of a stored object anew: told apart by content, the same again is no change.
  if (canonicalJson(after) !== canonicalJson(before)) {
    const { branch: newBranch, commitSha: newCommit, tag: newTag } = after;
    tx.em.assign(
      candidate,
      { branch: newBranch, commitSha: newCommit, tag: newTag, value, updatedBy: tx.actor.email },
      { mergeObjectProperties: false },
    );
    await tx.em.flush();
    audit(tx, project, candidate, 'updated', 'updated', { before, after: stateOf(candidate) });
    if (canonicalJson(packagesOf(value)) !== canonicalJson(packagesOf(before.value)))
      await makeApprovalsStale(tx, candidate, PACKAGES_CHANGED);
  }
  if (status !== undefined) await moveCandidate(tx, project, candidate, status);
  return candidate;
}

export interface MoveOptions {
  reason?: string | undefined;
  /** Finalized along with a newer candidate. */
  isIntermediate?: boolean;
}

/**
 * Moves a candidate to a status, with all that follows from it: the trail, and the events by which everyone is told.
 * Answers false, and touches nothing, when it has the status already. The domain's lock must be held.
 */
export async function moveCandidate(
  tx: Tx,
  project: ProjectFacts,
  candidate: ReleaseCandidate,
  status: string,
  { reason, isIntermediate = false }: MoveOptions = {},
): Promise<boolean> {
  const previousStatus = candidate.status;
  if (!decideMove(previousStatus, status, project.configuration.customReleaseStatuses)) return false;
  const { email } = tx.actor;
  tx.em.assign(candidate, { status, statusChangedAt: tx.now, statusChangedBy: email, updatedBy: email });
  await tx.em.flush();
  audit(
    tx,
    project,
    candidate,
    status === ABORTED ? 'aborted' : 'status_changed',
    `moved from ${previousStatus} to ${status}`,
    {
      before: { status: previousStatus },
      after: { status, ...(reason !== undefined && { reason }) },
    },
  );
  const event = eventOf(project, candidate, {
    previousStatus,
    reason: reason ?? null,
    isIntermediate,
    changedBy: email,
  });
  emitEvent(tx, 'release_candidate.status_changed', event);
  if (status === ABORTED) {
    emitEvent(tx, 'release_candidate.aborted', event);
    await makeApprovalsStale(tx, candidate, 'The release candidate was aborted');
  }
  if (status === FINALIZED) {
    emitEvent(tx, 'release_candidate.finalized', event);
    emitEvent(tx, 'release.published', {
      repositoryIdentifier: project.identifier,
      domain: candidate.domain,
      releaseName: candidate.releaseName,
      candidateId: candidate.id,
      branch: candidate.branch ?? null,
      commitSha: candidate.commitSha,
      packages: candidate.value.artifacts ?? {},
      by: email,
    });
  }
  return true;
}

/** Takes packages out of a candidate and gives others another version. Throws `locked`, `invalid_request`. */
export async function updatePackages(
  tx: Tx,
  project: ProjectFacts,
  candidate: ReleaseCandidate,
  changes: PackageChanges,
): Promise<void> {
  assertNotFinal(candidate.status, candidate.releaseName);
  const artifacts = candidate.value.artifacts ?? {};
  const [unknown] = unknownPackages(artifacts, changes);
  if (unknown !== undefined) {
    throw new DomainError('invalid_request', `The release candidate holds no package ${unknown}`, {
      fields: [
        {
          pointer: changes.excludePackages.includes(unknown) ? '#/body/excludePackages' : '#/body/versionOverrides',
          detail: `${unknown} is not a package of the candidate`,
        },
      ],
    });
  }
  const before = stateOf(candidate);
  const value = { ...candidate.value, artifacts: changePackages(artifacts, changes) };
  if (canonicalJson(value) === canonicalJson(candidate.value)) return;
  tx.em.assign(candidate, { value, updatedBy: tx.actor.email }, { mergeObjectProperties: false });
  await tx.em.flush();
  audit(tx, project, candidate, 'packages_updated', 'has other packages', {
    before: before.value.artifacts,
    after: value.artifacts,
  });
  await makeApprovalsStale(tx, candidate, PACKAGES_CHANGED);
}

/** Removes candidates; the records of their deployments stay. */
export async function removeCandidates(
  tx: Tx,
  project: ProjectFacts,
  candidates: readonly ReleaseCandidate[],
): Promise<void> {
  for (const candidate of candidates) {
    tx.em.remove(candidate);
    audit(tx, project, candidate, 'deleted', 'deleted', { before: stateOf(candidate) });
    await makeApprovalsStale(tx, candidate, 'The release candidate was deleted');
  }
  await tx.em.flush();
}
