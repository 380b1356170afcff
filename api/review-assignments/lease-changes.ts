import { hasEnded } from '../../domain/review-assignments/assignment-rules.ts';
import {
  assignmentById,
  assignmentKeyOf,
  type AssignmentRow,
} from '../../domain/review-assignments/review-assignments.queries.ts';
import { extendAssignment, releaseAssignment } from '../../domain/review-assignments/review-leases.mutations.ts';
import { type Actor, tenantOf } from '../../domain/shared/actor.ts';
import type { Tx, UnitOfWork } from '../../domain/unit-of-work.ts';
import { EngineUnavailableError } from '../../workflows/launch.ts';
import {
  extendUpdate,
  type LeaseChange,
  releaseUpdate,
  reviewAssignmentContract,
  type ReviewAssignmentInput,
} from '../../workflows/review-assignments/review-assignment.contract.ts';
import type { PublicScope } from '../http/scope.ts';

/** How long the workflow of an assignment may take to answer. */
const ANSWER_MS = 5_000;

/** Who asks, and by what. */
export interface Asking {
  actor: Actor;
  tx: UnitOfWork;
  scope: Pick<PublicScope, 'adapters' | 'requestId' | 'traceparent' | 'log'>;
}

/**
 * Changes an assignment through its workflow. While the engine does not answer it is changed directly, which its
 * workflow sees afterwards: that both are done does no harm. One that has ended needs no workflow.
 */
async function change(
  { actor, tx, scope }: Asking,
  id: string,
  byWorkflow: (input: ReviewAssignmentInput, asked: LeaseChange) => Promise<void>,
  directly: (work: Tx) => Promise<AssignmentRow>,
): Promise<AssignmentRow> {
  const assignment = await tx((work) => assignmentById(work, id));
  if (hasEnded(assignment.state)) return tx(directly);
  const { requestId, traceparent, log } = scope;
  try {
    await byWorkflow({ ...tenantOf(actor), ...assignmentKeyOf(assignment) }, { by: actor, requestId, traceparent });
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    log.warn({ err: error, assignmentId: id }, 'assignment changed without its workflow');
    return tx(directly);
  }
  return tx((work) => assignmentById(work, id));
}

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
