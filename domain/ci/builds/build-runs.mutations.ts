import { sql } from 'kysely';
import type { Commands } from '../../delivery/flows/programs/commands-file.ts';
import { type AcceptedRun, acceptNewRun } from '../../delivery/flows/new-runs.mutations.ts';
import type { CommitGraphCache } from '../../code/git/graph/commit-graph-cache.ts';
import { type ProjectFacts, projectInRequest } from '../../projects/projects/projects.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import { currentBuild, whyExcluded } from './build-plan-rules.ts';
import { type BuildRun, buildRuns } from './builds.queries.ts';
import { type MissingCommit, requestedCommit } from './requested-commit.mutations.ts';

export interface BuildRequest {
  repositoryIdentifier: string;
  branchName: string;
  /** May be abbreviated. */
  commitId: string;
}

export type RequestedBuild =
  | { outcome: 'missing'; missing: MissingCommit }
  | { outcome: 'excluded'; reason: string }
  | { outcome: 'existing'; run: BuildRun }
  | { outcome: 'accepted'; run: AcceptedRun };

/**
 * Has a commit built by a run of the build flow, unless the project does not build its branch, or a run builds or has
 * built it. Whoever calls launches the run that is accepted. Throws `flow_unavailable` when nothing executes builds.
 */
export async function requestBuild(
  tx: Tx,
  commitGraphs: CommitGraphCache,
  { repositoryIdentifier, branchName, commitId }: BuildRequest,
  options: { requestId: string; commands: Commands },
): Promise<RequestedBuild> {
  const project = await projectInRequest(tx, repositoryIdentifier);
  const history = await commitGraphs(tx, project.id);
  const found = await requestedCommit(tx, project, history, { branchName, commitId });
  if (!found.isKnown) return { outcome: 'missing', missing: found };
  const reason = whyExcluded(branchName, project);
  if (reason !== null) return { outcome: 'excluded', reason };
  return runBuild(tx, project, { branch: branchName, sha: found.sha, ...options });
}

/** Two requests at the same time get the same run. The pipeline is the one that the project is configured with. */
async function runBuild(
  tx: Tx,
  { id, identifier, configuration: { buildPipeline } }: ProjectFacts,
  { branch, sha, ...options }: { branch: string; sha: string; requestId: string; commands: Commands },
): Promise<RequestedBuild> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`build/${tx.tenantId}/${id}/${sha}`}, 2))`.execute(tx.db);
  const existing = currentBuild(await buildRuns(tx, id, sha));
  if (existing) return { outcome: 'existing', run: existing };
  const payload = {
    id: 'build',
    repositoryIdentifier: identifier,
    branch,
    commitId: sha,
    ...(buildPipeline && { pipeline: { ...buildPipeline, ref: branch } }),
  };
  return { outcome: 'accepted', run: await acceptNewRun(tx, payload, { ...options, prefix: '' }) };
}
