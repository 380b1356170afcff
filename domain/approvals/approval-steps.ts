import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import type { Decision, SettledStatus } from './approval-rules.ts';
import type { ApprovalRow } from './approvals.queries.ts';

/** What made a step: a run that asked, a person, the passing of time, a worker outside, or a change of the object. */
export type StepSource = 'run' | 'vote' | 'timer' | 'worker' | 'release_candidate' | 'newer_request' | 'run_ended';

interface Step {
  source: StepSource;
  by: string | null;
  comment?: string | null;
  vote?: { voterId: string; decision: Decision };
}

/** Adds a step to the approval's history, which nobody can change; once for each person and decision. */
async function appendStep(tx: Tx, approval: ApprovalRow, { source, by, comment = null, vote }: Step): Promise<void> {
  await tx.sql(
    `insert into approval_event (id, tenant_id, project_id, repository_identifier, approval_id, run_id, task_type, environment_name, domain,
       release_name, status, source, voter_id, vote, approvers, requested_by, requested_at, resolved_by, resolved_at, comment, occurred_at)
     select ?, a.tenant_id, a.project_id, a.repository_identifier, a.id, a.run_id, a.task_type, a.environment_name, a.domain,
       a.release_name, a.status, ?, ?, ?, a.approvers, a.requested_by, a.created_at, ?, case when ?::text is null then null else moment end, ?, moment
     from approval a, clock_timestamp() as moment where a.tenant_id = ? and a.id = ?`,
    [newId(), source, vote?.voterId ?? null, vote?.decision ?? null, by, by, comment, tx.tenantId, approval.id],
  );
}

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

function tell(
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

/** The first step of an approval that was just inserted. */
export async function noteRequested(tx: Tx, approval: ApprovalRow): Promise<void> {
  await appendStep(tx, approval, { source: 'run', by: null });
  auditStep(tx, approval, 'requested', {
    executionId: approval.executionId,
    approvers: approval.approvers,
    minApprovals: approval.minApprovals,
    expiresAt: approval.expiresAt,
  });
  tell(tx, 'requested', approval, undefined);
}

/** An approval was given that does not suffice by itself. */
export async function noteVote(tx: Tx, approval: ApprovalRow, voterId: string, comment: string | null): Promise<void> {
  await appendStep(tx, approval, {
    source: 'vote',
    by: tx.actor.email,
    comment,
    vote: { voterId, decision: 'approve' },
  });
  auditStep(tx, approval, 'voted', { decision: 'approve', comment });
}

/** Settles an open approval, as `settle`, where its workflow does not: it is told, so that it tells the run. */
export async function settleFromOutside(
  tx: Tx,
  approval: ApprovalRow,
  status: SettledStatus,
  step: Omit<Step, 'by'>,
): Promise<void> {
  await settle(tx, approval, status, step);
  const { id: approvalId, taskType, repositoryIdentifier } = approval;
  tx.wakeApproval({ approvalId, taskType, repositoryIdentifier });
}

/** Settles an open approval, which must be locked: its row, its last step, the trail, the subscribers. */
export async function settle(
  tx: Tx,
  approval: ApprovalRow,
  status: SettledStatus,
  step: Omit<Step, 'by'>,
): Promise<void> {
  const { email: resolvedBy } = tx.actor;
  const { comment = null } = step;
  await tx.sql(
    `update approval set status = ?, resolved_by = ?, resolved_at = clock_timestamp(), comment = ?, updated_at = now()
     where tenant_id = ? and id = ?`,
    [status, resolvedBy, comment, tx.tenantId, approval.id],
  );
  await appendStep(tx, approval, { ...step, by: resolvedBy });
  auditStep(tx, approval, status, { source: step.source, comment });
  tell(tx, status, approval, { resolvedBy, comment });
}
