import { isoOf } from '../../kernel/text/date-time-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import type { DecisionVia, SettledStatus } from './approval-rules.ts';
import { insertStep, type NewStep } from './approval-steps.queries.ts';
import { type ApprovalRow, writeSettlement } from './approvals.queries.ts';

type Step = Pick<NewStep, 'source' | 'vote'> & { comment?: string | null; via?: DecisionVia | undefined };

function auditStep(
  tx: Tx,
  { id, repositoryIdentifier, taskType, environmentName }: ApprovalRow,
  action: string,
  after: Record<string, unknown>,
): void {
  tx.audit({
    source: 'approval',
    action: `approval.${action}`,
    entityType: 'approval',
    entityId: id,
    repositoryIdentifier,
    summary: `Approval of ${taskType}${environmentName === null ? '' : ` in ${environmentName}`}: ${action}`,
    after,
  });
}

function announce(
  tx: Tx,
  event: 'requested' | SettledStatus,
  approval: ApprovalRow,
  resolution: { resolvedBy: string; comment: string | null } | undefined,
): void {
  emitEvent(tx, `approval.${event}`, {
    id: approval.id,
    executionId: approval.executionId,
    taskType: approval.taskType,
    repositoryIdentifier: approval.repositoryIdentifier,
    environmentName: approval.environmentName,
    domain: approval.domain,
    releaseName: approval.releaseName,
    status: event,
    approvers: approval.approvers,
    requestedBy: approval.requestedBy,
    requestedAt: new Date(approval.requestedAt).toISOString(),
    ...(resolution && { ...resolution, resolvedAt: tx.now.toISOString() }),
  });
}

/** Records the first step of an approval that was just inserted. */
export async function noteRequested(tx: Tx, approval: ApprovalRow): Promise<void> {
  await insertStep(tx, approval.id, { source: 'run', by: null, comment: null });
  auditStep(tx, approval, 'requested', {
    executionId: approval.executionId,
    approvers: approval.approvers,
    minApprovals: approval.minApprovals,
    expiresAt: isoOf(approval.expiresAt),
  });
  announce(tx, 'requested', approval, undefined);
}

/** Records an approving vote that does not suffice by itself. */
export async function noteVote(
  tx: Tx,
  approval: ApprovalRow,
  voterId: string,
  { comment, via }: { comment: string | null; via?: DecisionVia | undefined },
): Promise<void> {
  await insertStep(tx, approval.id, {
    source: 'vote',
    by: tx.actor.email,
    comment,
    vote: { voterId, decision: 'approve' },
  });
  await tx.tell('approvalChanged', approval.id);
  auditStep(tx, approval, 'voted', { decision: 'approve', comment, ...(via && { via }) });
}

/** Settles an open approval, as `settle`, where its workflow does not do so, and signals that to notify the run. */
export async function settleFromOutside(
  tx: Tx,
  approval: ApprovalRow,
  status: SettledStatus,
  step: Step,
): Promise<void> {
  await settle(tx, approval, status, step);
  const { id: approvalId, taskType, repositoryIdentifier } = approval;
  tx.after('approval', { approvalId, taskType, repositoryIdentifier });
}

/** Settles an open approval, which must be locked: its row, its last step, the trail, the subscribers. */
export async function settle(
  tx: Tx,
  approval: ApprovalRow,
  status: SettledStatus,
  { comment = null, via, ...step }: Step,
): Promise<void> {
  const { email: resolvedBy } = tx.actor;
  await writeSettlement(tx, approval.id, { status, resolvedBy, comment });
  await insertStep(tx, approval.id, { ...step, comment, by: resolvedBy });
  await tx.tell('approvalChanged', approval.id);
  auditStep(tx, approval, status, { source: step.source, comment, ...(via && { via }) });
  announce(tx, status, approval, { resolvedBy, comment });
}
