import type { CommitGraphCache } from '../../code/git/graph/commit-graph-cache.ts';
import { projectById } from '../../projects/projects/projects.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { DeploymentLogCache } from '../deployments/deployment-log-cache.ts';
import { findCandidate } from '../release-candidates/release-candidates.queries.ts';
import { viewChanges } from './changelogs/change-views.ts';
import { candidateSideWithCommits, changesBetween, environmentSide } from './changelogs/compared-sides.ts';

/** What changes are read from. */
export interface ChangesSource {
  commitGraphs: CommitGraphCache;
  deploymentLogs: DeploymentLogCache;
}

/** How much a release changes in an environment, distinct over all packages. */
export interface ChangesToCome {
  packages: number;
  commits: number;
  workItems: number;
}

interface ReleaseToCome {
  projectId: string | null;
  domain: string | null;
  releaseName: string | null;
}

/**
 * What a release would change in environments against what runs there now, as a comparison with each says, in the one
 * where that is the most; null: there is no such candidate, or no environment.
 */
export async function changesToCome(
  tx: Tx,
  { commitGraphs, deploymentLogs }: ChangesSource,
  { projectId, domain, releaseName }: ReleaseToCome,
  environmentIds: readonly string[],
): Promise<ChangesToCome | null> {
  if (projectId === null || domain === null || releaseName === null || environmentIds.length === 0) return null;
  const [project, candidate] = await Promise.all([
    projectById(tx, projectId),
    findCandidate(tx, projectId, { domain, releaseName }),
  ]);
  if (!project || !candidate) return null;
  const log = await deploymentLogs(tx, projectId);
  const side = await candidateSideWithCommits(tx, candidate);
  const steps = environmentIds.map((id) => changesBetween(side, environmentSide(log, id)));
  const { views } = await viewChanges(tx, await commitGraphs(tx, projectId), project, steps);
  const all = views.map(
    ({ totals }, index): ChangesToCome => ({
      packages: steps[index]?.length ?? 0,
      commits: totals.totalCommits,
      workItems: totals.totalWorkItems,
    }),
  );
  return all.toSorted((a, b) => b.packages - a.packages || b.commits - a.commits)[0] ?? null;
}
