import { reevaluatePool, type PoolProgress } from '../../../domain/review/review-assignments/pool-upkeep.mutations.ts';
import {
  extendAssignment,
  releaseAssignment,
} from '../../../domain/review/review-assignments/review-leases.mutations.ts';
import {
  type AssignmentProgress,
  reevaluateAssignment,
} from '../../../domain/review/review-assignments/lease-progress.mutations.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import type { LeaseChange } from '../../../workflows/review/review-assignments/review-assignment.contract.ts';
import type { Deps } from '../../deps.ts';
import { type Refusal, refusableChanges } from '../../refusals.ts';

interface AssignmentKey extends TenantKey {
  assignmentId: string;
}

/** The activities of pools of review orgs and of their assignments. */
export const createReviewActivities = ({ actingAs, launch, flows }: Deps) => {
  const changed = refusableChanges({ actingAs });
  return {
    /** Does what is due for an assignment; null when it is gone. */
    reevaluateAssignment: ({ assignmentId, ...tenant }: AssignmentKey): Promise<AssignmentProgress | null> =>
      actingAs(systemActor(tenant, 'review-assignment'))((tx) => reevaluateAssignment(tx, assignmentId)),

    /** Extends a lease in the name of who asked for it. */
    extendAssignment: (asked: AssignmentKey & LeaseChange & { hours: number }): Promise<Refusal | null> =>
      changed(asked, (tx) => extendAssignment(tx, asked.assignmentId, asked.hours)),

    /** Releases an assignment in the name of who asked for it. */
    releaseAssignment: (asked: AssignmentKey & LeaseChange): Promise<Refusal | null> =>
      changed(asked, (tx) => releaseAssignment(tx, asked.assignmentId)),

    /** Does what is due for a pool; null when it is gone. */
    async reevaluatePool({ poolId, ...tenant }: TenantKey & { poolId: string }): Promise<PoolProgress | null> {
      const unit = actingAs(systemActor(tenant, 'review-pool'));
      const evaluated = await unit((tx) => reevaluatePool(tx, poolId, flows.commands));
      if (evaluated?.run) launch.startInBackground(flowRunContract, evaluated.run);
      return evaluated?.progress ?? null;
    },
  };
};
export type ReviewActivities = ReturnType<typeof createReviewActivities>;
