import { analyzeAtNight } from '../../../domain/insight/code-analysis/jobs/analysis-jobs.mutations.ts';
import {
  dueBranches,
  openNightlyJobs,
  takeTurn,
} from '../../../domain/insight/code-analysis/jobs/analysis-jobs.queries.ts';
import { projectById } from '../../../domain/projects/projects/projects.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import type { Deps } from '../../deps.ts';

/** Analyses of the night that are under way at the same time, in all tenants. */
const OPEN_MAX = 4;
/** Most branches have nothing new and are passed over at once. */
const LOOKED_AT = 200;

export const createNightlyAnalysisActivities = ({ actingAs, system, launch, flows, log }: Deps) => ({
  /**
   * Starts the next analysis of a night unless enough are under way. Retrying it is safe: each branch has one turn.
   * @returns whether branches are left whose turn has not come.
   */
  async startNightlyAnalyses({ night }: { night: string }): Promise<{ started: number; open: number; left: boolean }> {
    const open = await openNightlyJobs(system);
    if (open >= OPEN_MAX) return { started: 0, open, left: true };
    const due = await dueBranches(system, night, LOOKED_AT);
    for (const { tenantId, tenantSlug, projectId, branch } of due) {
      const unit = actingAs(systemActor({ tenantId, tenantSlug }, 'nightly-analysis'));
      const run = await unit(async (tx) => {
        const project = await projectById(tx, projectId);
        return project && analyzeAtNight(tx, project, branch, { night, commands: flows.commands });
      }).catch(async (error: unknown) => {
        log.warn({ err: error, tenantId, projectId, branch }, 'a branch could not be analysed at night');
        // Otherwise each attempt would meet it first, and no other branch had its turn.
        await unit((tx) => takeTurn(tx, { projectId, branch }, night));
        return undefined;
      });
      if (!run) continue;
      launch.startInBackground(flowRunContract, run);
      log.info({ tenantId, projectId, branch }, 'an analysis of the night was started');
      return { started: 1, open: open + 1, left: true };
    }
    return { started: 0, open, left: due.length === LOOKED_AT };
  },
});
export type NightlyAnalysisActivities = ReturnType<typeof createNightlyAnalysisActivities>;
