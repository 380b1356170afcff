import { DomainError } from '../../kernel/shared/errors.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { findRun, type RunContext } from '../flows/flow-runs.queries.ts';
import { stepsOfRun } from '../org-steps/org-steps.queries.ts';
import { findCandidate } from '../release-candidates/release-candidates.queries.ts';

/** Names of the steps of a deployment. */
export const BUILD = 'Build the source';
export const DEPLOY = 'Deploy';
export const VALIDATE = 'Validate';

/** What names the source of a run. */
export type SourceOfRun = Pick<RunContext, 'projectId' | 'domain' | 'releaseName' | 'payload'>;

/** A commit, or a branch whose head is not known yet. */
export type NamedSource = { commitSha: string } | { branch: string };

/** What is deployed of a payload. Throws `flow_unavailable` where it names nothing. */
export async function namedSource(
  reads: Reads,
  { projectId, domain, releaseName, payload }: SourceOfRun,
): Promise<NamedSource> {
  if (projectId === null) throw unavailable('The run names no repository');
  if (payload.commitId !== undefined) return { commitSha: payload.commitId };
  if (releaseName !== null) {
    if (domain === null) throw unavailable('A release is named with its domain');
    const candidate = await findCandidate(reads, projectId, { domain, releaseName });
    if (!candidate) throw unavailable(`The domain ${domain} has no release candidate ${releaseName}`);
    return { commitSha: candidate.commitSha };
  }
  if (payload.branch !== undefined) return { branch: payload.branch };
  throw unavailable('Nothing names what is deployed: give commitId, releaseName with domain, or branch');
}

/** The commit that a run names by itself or by a release; undefined: none. */
async function namedCommit(
  reads: Reads,
  projectId: string | null,
  { commitId, domain, releaseName }: Pick<SourceOfRun, 'domain' | 'releaseName'> & { commitId?: unknown },
): Promise<string | undefined> {
  if (typeof commitId === 'string') return commitId;
  if (projectId === null || domain === null || releaseName === null) return undefined;
  return (await findCandidate(reads, projectId, { domain, releaseName }))?.commitSha;
}

/** A validation that is deployed quickly. */
export interface Validation {
  deploymentId: string;
  /** What its run built. */
  intent: Record<string, unknown>;
  result: Record<string, unknown>;
}

/** The platform takes a validation for so long. */
const VALID_MS = 10 * 86_400_000;

/**
 * The validation of another run, to be deployed to an org. Throws `flow_unavailable` where it is none, failed, is of another
 * project, org or commit, or too old. The org itself knows whether it was changed since.
 */
export async function validationOf(
  reads: Reads,
  {
    runId,
    projectId,
    orgId,
    now,
    named,
  }: {
    runId: string;
    projectId: string | null;
    orgId: string;
    now: Date;
    /** What the run names beside it, which must be what was validated. */
    named: Pick<SourceOfRun, 'domain' | 'releaseName'> & { commitId?: unknown };
  },
): Promise<Validation> {
  const run = await findRun(reads, runId);
  if (!run || run.projectId !== projectId)
    throw unavailable(`The project has no run ${runId} that validated something`);
  const steps = await stepsOfRun(reads, runId);
  const build = steps.find(({ name }) => name === BUILD);
  const validated = steps.find(({ name }) => name === VALIDATE);
  if (!build || !validated?.externalId || validated.state !== 'succeeded')
    throw unavailable(`The run ${runId} has validated nothing with success`);
  if (validated.orgId !== orgId) throw unavailable(`The run ${runId} validated in another org`);
  if (now.getTime() - new Date(validated.endedAt ?? now).getTime() > VALID_MS)
    throw unavailable(`The validation of run ${runId} is older than ten days: validate anew`);
  const { commitSha } = build.intent as { commitSha?: string };
  const wanted = await namedCommit(reads, projectId, named);
  if (wanted !== undefined && !commitSha?.startsWith(wanted.toLowerCase()))
    throw unavailable(`The run ${runId} validated the commit ${commitSha}, and not ${wanted}`);
  return { deploymentId: validated.externalId, intent: build.intent, result: build.result };
}

const unavailable = (detail: string) => new DomainError('flow_unavailable', detail);
