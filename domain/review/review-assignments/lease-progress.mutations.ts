import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { hasEnded, isActive, isOver, warnsInMs } from './assignment-rules.ts';
import { assignmentById, type AssignmentRow, findAssignment } from './review-assignments.queries.ts';
import { noteSeen, writeWarned } from './assignment-changes.queries.ts';
import { dateOf, endAssignment, leaseOf, lockedAssignment } from './review-leases.mutations.ts';
import { eventOf, record } from './assignment-announcements.ts';

/** An assignment as its workflow knows it. */
export interface AssignmentProgress {
  state: AssignmentRow['state'];
  hasEnded: boolean;
  orgUsername: string | null;
  /** ISO 8601; null: it does not expire, or waits. */
  expiresAt: string | null;
  /** Milliseconds until something is due; null: nothing is. */
  dueInMs: number | null;
}

/** Expires a lease that has ended and announces one that ends soon; null when the assignment is gone. Retrying is safe. */
export async function reevaluateAssignment(tx: Tx, id: string): Promise<AssignmentProgress | null> {
  if (!(await findAssignment(tx, id))) return null;
  let assignment = await lockedAssignment(tx, id);
  if (isOver(leaseOf(assignment), tx.now)) assignment = await endAssignment(tx, assignment, 'expired', null);
  else if (isActive(assignment.state)) {
    const warnsIn = warnsInMs({ ...leaseOf(assignment), warnedAt: dateOf(assignment.warnedAt) }, tx.now);
    if (warnsIn === 0) {
      await writeWarned(tx, id, tx.now);
      assignment = await assignmentById(tx, id);
      record(tx, assignment, 'expiring', 'The lease ends soon of');
      emitEvent(tx, 'review_environment.expiring', eventOf(assignment));
    }
  }
  await noteSeen(tx, id);
  return progressOf(assignment, tx.now);
}

function progressOf(assignment: AssignmentRow, now: Date): AssignmentProgress {
  const { state, orgUsername, expiresAt, warnedAt } = assignment;
  const warnsIn = isActive(state) ? warnsInMs({ ...leaseOf(assignment), warnedAt: dateOf(warnedAt) }, now) : null;
  const endsIn = isActive(state) && expiresAt !== null ? Date.parse(expiresAt) - now.getTime() : null;
  return {
    state,
    hasEnded: hasEnded(state),
    orgUsername,
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    dueInMs: warnsIn ?? endsIn,
  };
}
