import type { Tx } from '../../unit-of-work.ts';
import { type EventData, emitEvent } from '../../events/webhooks/event-catalog.ts';
import { type AssignmentEnd, pullRequestOf, subjectOf } from './assignment-rules.ts';
import { assignmentKeyOf, type AssignmentRow } from './review-assignments.queries.ts';

/** Tells of an assignment that has got what it asked for: the trail, webhooks and its workflow. */
export function recordAssigned(tx: Tx, assignment: AssignmentRow): void {
  record(tx, assignment, 'assigned', `${assignment.orgUsername ?? assignment.targetName} is assigned to`);
  emitEvent(tx, 'review_environment.assigned', eventOf(assignment));
  tx.after('reviewAssignment', assignmentKeyOf(assignment));
}

/** What of an assignment stands in the audit trail. */
const stateOf = ({ state, targetName, orgUsername, assignedAt, expiresAt, reason, ...rest }: AssignmentRow) => ({
  state,
  assignmentType: rest.assignmentType,
  assignmentId: rest.assignmentKey,
  target: targetName,
  orgUsername,
  assignedAt,
  expiresAt,
  isImmortal: rest.isImmortal,
  reason,
});

/** Writes to the trail what happened to an assignment. */
export function record(
  tx: Tx,
  assignment: AssignmentRow,
  action: 'requested' | 'assigned' | 'extended' | 'adjusted' | 'expiring' | AssignmentEnd,
  what: string,
  before?: AssignmentRow,
): void {
  tx.audit({
    source: 'environment',
    action: `review_assignment.${action}`,
    entityType: 'review_assignment',
    entityId: assignment.id,
    repositoryIdentifier: assignment.repositoryIdentifier,
    summary: `${what} ${subjectOf(assignment)} of ${assignment.targetName}`,
    ...(before && { before: stateOf(before) }),
    after: stateOf(assignment),
  });
}

/** What webhooks get of an assignment. */
export const eventOf = (assignment: AssignmentRow): EventData<'review_environment.assigned'> => ({
  assignmentId: assignment.id,
  repositoryIdentifier: assignment.repositoryIdentifier,
  assignmentType: assignment.assignmentType,
  assignedFor: assignment.assignmentKey,
  environmentName: assignment.targetType === 'environment' ? assignment.targetName : null,
  poolTag: assignment.targetType === 'pool' ? assignment.targetName : null,
  orgUsername: assignment.orgUsername,
  branch: assignment.branch,
  prNumber: pullRequestOf(assignment),
  assignedTo: assignment.requestedBy.email,
  expiresAt: assignment.expiresAt === null ? null : new Date(assignment.expiresAt).toISOString(),
  reason: assignment.reason,
});
