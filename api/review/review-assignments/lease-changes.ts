import { hasEnded } from '../../../domain/review/review-assignments/assignment-rules.ts';
import {
  assignmentById,
  assignmentKeyOf,
  type AssignmentRow,
} from '../../../domain/review/review-assignments/review-assignments.queries.ts';
import {
  extendAssignment,
  releaseAssignment,
} from '../../../domain/review/review-assignments/review-leases.mutations.ts';
import { type Actor, tenantOf } from '../../../domain/kernel/shared/actor.ts';
import type { Tx, UnitOfWork } from '../../../domain/unit-of-work.ts';
import {
  extendUpdate,
  type LeaseChange,
  releaseUpdate,
  reviewAssignmentContract,
  type ReviewAssignmentInput,
} from '../../../workflows/review/review-assignments/review-assignment.contract.ts';
import { ANSWER_MS, changedByWorkflow } from '../changed-by-workflow.ts';
import type { PublicScope } from '../../http/scope.ts';

/** Who asks, and by what. */
export interface Asking {
  actor: Actor;
  tx: UnitOfWork;
  scope: Pick<PublicScope, 'adapters' | 'requestId' | 'traceparent' | 'log'>;
}

/** Changes an assignment through its workflow. */
const change = (
  { actor, tx, scope: { requestId, traceparent, log } }: Asking,
  id: string,
  byWorkflow: (input: ReviewAssignmentInput, asked: LeaseChange) => Promise<void>,
  directly: (work: Tx) => Promise<AssignmentRow>,
): Promise<AssignmentRow> =>
  changedByWorkflow(
    { tx, log: log.child({ assignmentId: id }) },
    {
      find: (work) => assignmentById(work, id),
      hasEnded: ({ state }) => hasEnded(state),
      byWorkflow: (assignment) =>
        byWorkflow({ ...tenantOf(actor), ...assignmentKeyOf(assignment) }, { by: actor, requestId, traceparent }),
      directly,
    },
  );

/** Extends a lease by so many hours from now. Throws as `extendAssignment`. */
export const extendLease = (asking: Asking, id: string, hours: number): Promise<AssignmentRow> =>
  change(
    asking,
    id,
    (input, asked) =>
      asking.scope.adapters.launch.updateWithStart(reviewAssignmentContract, input, extendUpdate, {
        args: [{ ...asked, hours }],
        timeoutMs: ANSWER_MS,
      }),
    (work) => extendAssignment(work, id, hours),
  );

/** Releases an assignment. Throws as `releaseAssignment`. */
export const releaseLease = (asking: Asking, id: string): Promise<AssignmentRow> =>
  change(
    asking,
    id,
    (input, asked) =>
      asking.scope.adapters.launch.updateWithStart(reviewAssignmentContract, input, releaseUpdate, {
        args: [asked],
        timeoutMs: ANSWER_MS,
      }),
    (work) => releaseAssignment(work, id),
  );
