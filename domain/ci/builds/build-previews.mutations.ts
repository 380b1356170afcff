import { createHash } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import type { EnvironmentCategory } from '../../projects/environments/environments.entities.ts';
import { listEnvironments } from '../../projects/environments/environments.queries.ts';
import { commitNumbers, commitShas } from '../../code/git/commits.queries.ts';
import type { CommitGraphCache } from '../../code/git/graph/commit-graph-cache.ts';
import { branchTip } from '../../code/git/mirror/refs.queries.ts';
import { Project } from '../../projects/projects/projects.entities.ts';
import { projectInRequest } from '../../projects/projects/projects.queries.ts';
import { invalidField, notFound } from '../../kernel/shared/errors.ts';
import { matchesPattern } from '../../kernel/text/pattern-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { currentBuild } from './build-plan-rules.ts';
import { findImpact, type Impact, insertPreview, type PreviewRequest } from './build-previews.queries.ts';
import { BuildPreview } from './builds.entities.ts';
import { buildRuns, builtCommits } from './builds.queries.ts';
import { baseOf, type ImpactedDomain, impactOf } from './impact.ts';
import { requestedCommit } from './requested-commit.mutations.ts';

/** The same request has the same key. */
const previewKeyOf = (projectId: string, { branch, commitId, forcedDomains, forcedPackages }: PreviewRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([projectId, branch, commitId, forcedDomains.toSorted(), forcedPackages.toSorted()]))
    .digest('hex')
    .slice(0, 32);

export interface PreviewQuestion {
  repositoryIdentifier: string;
  branchName: string;
  /** May be abbreviated. */
  commitId: string;
  forcedDomains: string[];
  forcedPackages: string[];
  /** Only targets of these categories; empty: of all. */
  environmentCategories: readonly EnvironmentCategory[];
  /** The impact is to be computed again. */
  isRefreshed: boolean;
}

/** What a build of a commit would do. Where `isRequested`, whoever calls starts the computation of the impact. */
export async function previewBuild(
  tx: Tx,
  commitGraphs: CommitGraphCache,
  { repositoryIdentifier, branchName, commitId, environmentCategories, isRefreshed, ...forced }: PreviewQuestion,
) {
  const project = await projectInRequest(tx, repositoryIdentifier);
  const history = await commitGraphs(tx, project.id);
  const found = await requestedCommit(tx, project, history, { branchName, commitId });
  if (!found.isKnown) return found;
  const request = { branch: branchName, commitId: found.sha, ...forced };
  const { isRequested, impact } = await requestImpact(tx, project.id, request, isRefreshed);
  const environments = (await listEnvironments(tx, project.id)).filter(
    ({ isActive, category, branch }) =>
      isActive &&
      (environmentCategories.length === 0 || environmentCategories.includes(category)) &&
      matchesPattern(branch, branchName),
  );
  return {
    ...found,
    project,
    freshness: history.freshness,
    impact,
    isRequested,
    existing: currentBuild(await buildRuns(tx, project.id, found.sha)),
    environmentNames: environments.map(({ name }) => name),
    tipSha: (await commitShas(tx, project.id, [found.tip])).get(found.tip) ?? null,
  };
}

/** The impact for a request. It is requested where there is none, it failed, or a refresh is wanted. */
async function requestImpact(
  tx: Tx,
  projectId: string,
  request: PreviewRequest,
  isRefreshed: boolean,
): Promise<{ impact: Impact; isRequested: boolean }> {
  const key = previewKeyOf(projectId, request);
  const requested = await insertPreview(tx, projectId, key, request, isRefreshed);
  if (requested) return { impact: requested, isRequested: true };
  const known = await findImpact(tx, projectId, key);
  if (!known) throw new Error('a preview that was in conflict is gone');
  return { impact: known, isRequested: false };
}

const lockedPreview = (tx: Tx, projectId: string, previewKey: string) =>
  tx.em.findOne(
    BuildPreview,
    { tenantId: tx.tenantId, projectId, previewKey },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );

export interface ImpactResult {
  repositoryIdentifier: string;
  previewKey: string;
  /** For which it was computed. */
  generation: number;
  status: 'available' | 'error';
  impactedDomains: ImpactedDomain[];
  computedAt: Date;
  message?: string | undefined;
}

/**
 * Records an impact that was computed elsewhere; one of an older generation changes nothing. Throws `not_found`, and
 * `invalid_request` for a generation that was never requested.
 */
export async function recordImpact(
  tx: Tx,
  { repositoryIdentifier, previewKey, generation, status, impactedDomains, computedAt, message }: ImpactResult,
): Promise<void> {
  const project = await projectInRequest(tx, repositoryIdentifier);
  const preview = await lockedPreview(tx, project.id, previewKey);
  if (!preview) throw notFound('The preview');
  if (generation > preview.generation)
    throw invalidField('generation', `the newest generation is ${preview.generation}`);
  if (generation < preview.generation) return;
  tx.em.assign(preview, { status, impactedDomains, computedAt, message: message ?? null, baseSha: null });
  tx.audit({
    source: 'project',
    action: 'build.impact_recorded',
    entityType: 'build_preview',
    entityId: previewKey,
    repositoryIdentifier,
    summary: `Impact of a build recorded as ${status}`,
    after: { generation, status, domains: impactedDomains.map(({ domainName }) => domainName) },
  });
}

/** Computes the impact of a pending preview; one of another generation is left to its own workflow. */
export async function computeImpact(
  tx: Tx,
  commitGraphs: CommitGraphCache,
  { projectId, previewKey, generation }: { projectId: string; previewKey: string; generation: number },
): Promise<void> {
  const preview = await lockedPreview(tx, projectId, previewKey);
  const project = await tx.em.findOne(Project, { tenantId: tx.tenantId, id: projectId });
  if (!project || preview?.status !== 'pending' || preview.generation !== generation) return;
  const { commitSha, forcedDomains, forcedPackages } = preview;
  const history = await commitGraphs(tx, projectId);
  const commit = (await commitNumbers(tx, projectId, [commitSha])).get(commitSha);
  preview.computedAt = tx.now;
  if (commit === undefined) {
    tx.em.assign(preview, {
      status: 'error',
      impactedDomains: [],
      message: 'The commit is not in the repository any more',
      baseSha: null,
    });
    return;
  }
  const base = baseOf(history, commit, {
    defaultTip: await branchTip(tx, projectId, project.defaultBranch),
    built: await builtCommits(tx, projectId),
  });
  const impactedDomains = impactOf(history, project, { commit, base, forcedDomains, forcedPackages });
  const baseSha = base === null ? null : ((await commitShas(tx, projectId, [base])).get(base) ?? null);
  tx.em.assign(preview, { status: 'available', impactedDomains, message: null, baseSha });
}
