import { computeImpact } from '../../../domain/ci/builds/build-previews.mutations.ts';
import { createCommitGraphCache } from '../../../domain/code/git/graph/commit-graph-cache.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { BuildImpactInput } from '../../../workflows/ci/builds/build-impact.contract.ts';
import type { Deps } from '../../deps.ts';

export function createBuildActivities({ actingAs }: Deps) {
  const commitGraphs = createCommitGraphCache();
  return {
    /** Computes the impact of a pending preview. One that was requested again meanwhile is left to its own workflow. */
    computeImpact: ({ tenantId, tenantSlug, ...preview }: BuildImpactInput): Promise<void> =>
      actingAs(systemActor({ tenantId, tenantSlug }, 'build-impact'))((tx) => computeImpact(tx, commitGraphs, preview)),
  };
}
export type BuildActivities = ReturnType<typeof createBuildActivities>;
