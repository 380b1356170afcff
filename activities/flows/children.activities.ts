import type { RunKey } from '../../domain/flows/accept-run.ts';
import { acceptNextStage, requestCancelOfChildren } from '../../domain/flows/child-runs.mutations.ts';
import type { RunOutcome } from '../../domain/flows/run-moves.ts';
import { flowRunContract } from '../../workflows/flows/flow-run.contract.ts';
import type { Deps } from '../deps.ts';
import { unitOfRun } from './run-steps.activities.ts';

/** The runs of which a release consists: one per release environment, stage by stage. */
export const createChildActivities = (deps: Deps) => ({
  /**
   * Starts the children of the next stage when all before it have succeeded; answers the outcome of all when there is
   * nothing left to start, else null.
   */
  async startChildren(key: RunKey): Promise<RunOutcome | null> {
    const { accepted, outcome } = await unitOfRun(deps, key)((tx) => acceptNextStage(tx, key.runId));
    for (const child of accepted) deps.launch.startInBackground(flowRunContract, child);
    return outcome;
  },

  /** Cancels the children that are open. */
  async cancelChildren(key: RunKey): Promise<void> {
    const open = await unitOfRun(deps, key)((tx) => requestCancelOfChildren(tx, key.runId));
    await Promise.all(
      open.map(({ id, taskType }) =>
        deps.launch.cancel(flowRunContract, { tenantId: key.tenantId, runId: id, taskType }),
      ),
    );
  },
});
export type ChildActivities = ReturnType<typeof createChildActivities>;
