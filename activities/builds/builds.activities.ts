import { branchTip } from '../../domain/git/refs.queries.ts';
import { keepImpact, pendingPreview } from '../../domain/builds/build-preview.queries.ts';
import { builtCommits } from '../../domain/builds/build-status.queries.ts';
import { baseOf, impactOf } from '../../domain/builds/impact.ts';
import { commitNumbers, commitShas } from '../../domain/git/commits.queries.ts';
import { createCommitGraphCache } from '../../domain/git/commit-graph-cache.ts';
import { Project } from '../../domain/projects/projects.entities.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import type { BuildImpactInput } from '../../workflows/builds/build-impact.contract.ts';
import type { Deps } from '../deps.ts';

export function createBuildActivities({ actingAs, now }: Deps) {
  const commitGraphs = createCommitGraphCache();
  return {
    /** Computes what a pending preview asks for. One that was asked for anew meanwhile is left to its own workflow. */
    computeImpact: ({ tenantId, projectId, previewKey, generation }: BuildImpactInput): Promise<void> =>
      actingAs(systemActor(tenantId, 'build-impact'))(async (tx) => {
        const preview = await pendingPreview(tx, projectId, previewKey);
        const project = await tx.em.findOne(Project, { tenantId, id: projectId });
        if (!project || preview?.generation !== generation) return;
        const history = await commitGraphs(tx, projectId);
        const commit = (await commitNumbers(tx, projectId, [preview.commitId])).get(preview.commitId);
        const keep = { generation, computedAt: now() };
        if (commit === undefined) {
          await keepImpact(tx, projectId, previewKey, {
            ...keep,
            status: 'error',
            impactedDomains: [],
            message: 'The commit is not in the repository any more',
          });
          return;
        }
        const base = baseOf(history, commit, {
          defaultTip: await branchTip(tx, projectId, project.defaultBranch),
          built: await builtCommits(tx, projectId),
        });
        const impactedDomains = impactOf(history, project, {
          commit,
          base,
          forcedDomains: preview.forcedDomains,
          forcedPackages: preview.forcedPackages,
        });
        const baseCommitId = base === null ? null : ((await commitShas(tx, projectId, [base])).get(base) ?? null);
        await keepImpact(tx, projectId, previewKey, { ...keep, status: 'available', impactedDomains, baseCommitId });
      }),
  };
}
export type BuildActivities = ReturnType<typeof createBuildActivities>;
