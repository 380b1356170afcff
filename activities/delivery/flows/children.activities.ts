import type { AcceptedRun, RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import {
  acceptNextStage,
  requestCancelOfChildren,
} from '../../../domain/delivery/flows/children/child-runs.mutations.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import type { Deps } from '../../deps.ts';
import { unitOfRun } from './run-steps.activities.ts';

/** The runs of which a release consists: one per release environment, stage by stage. */
export const createChildActivities = (deps: Deps) => ({
  /**
   * Accepts the children of the next stage, which the workflow then starts, when all before it have succeeded; answers
   * the outcome of all when there is nothing left to start.
   */
  acceptChildren: (key: RunKey): Promise<{ accepted: AcceptedRun[]; outcome: RunOutcome | null }> =>
    unitOfRun(deps, key)((tx) => acceptNextStage(tx, key.runId)),

  /** Cancels the children that are open. */
  async cancelChildren(key: RunKey): Promise<void> {
    const open = await unitOfRun(deps, key)((tx) => requestCancelOfChildren(tx, key.runId));
    await Promise.all(
      open.map(({ id: runId, taskType, workflowPath }) =>
        deps.launch.cancel(flowRunContract, { ...tenantOf(key), runId, taskType, workflowPath }),
      ),
    );
  },
});
export type ChildActivities = ReturnType<typeof createChildActivities>;
