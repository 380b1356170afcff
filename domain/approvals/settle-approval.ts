import { notFound } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { type ApprovalStatus, decide, type Decision, isOpen } from './approval-rules.ts';
import { noteVote, settle, settleFromOutside } from './approval-steps.ts';
import {
  approvalById,
  type ApprovalRow,
  findApprovalOfRun,
  openApprovalsOf,
  voterOf,
  votesOf,
} from './approvals.queries.ts';

/** Whether the actor's decision would count, or was made before; throws what `decide` throws, changes nothing. */
export async function foreseeDecision(tx: Tx, approval: ApprovalRow, decision: Decision) {
  return decide(approval, await votesOf(tx, approval.id), await voterOf(tx, tx.actor), decision);
}

/** Writes the actor's decision; repeated, it changes nothing. Throws `not_found`, and what `decide` throws. */
export async function applyDecision(
  tx: Tx,
  approvalId: string,
  decision: Decision,
  comment: string | null,
): Promise<ApprovalStatus> {
  const approval = await approvalById(tx, approvalId, { forUpdate: true });
  const current = isOverdue(tx, approval) ? { ...approval, status: 'expired' as const } : approval;
  const { status, isRepeated } = await foreseeDecision(tx, current, decision);
  if (isRepeated) return status;
  const vote = { voterId: tx.actor.id, decision };
  if (status === 'requested') await noteVote(tx, approval, vote.voterId, comment);
  else await settle(tx, approval, status, { source: 'vote', comment, vote });
  return status;
}

const isOverdue = (tx: Tx, { status, expiresAt }: ApprovalRow): boolean =>
  isOpen(status) && Date.parse(expiresAt) <= tx.now.getTime();

const RUN_ENDED = { source: 'run_ended', comment: 'The run ended without it' } as const;

/** The state of an approval, for its workflow. */
export interface ApprovalState {
  status: ApprovalStatus;
  runId: string;
  expiresInMs: number;
}

/**
 * Settles an approval that has expired, or whose run has ended without waiting for it; records that its workflow is
 * running. Undefined when the approval was removed.
 */
export async function reevaluateApproval(tx: Tx, approvalId: string): Promise<ApprovalState | undefined> {
  const [row] = await tx.sql<{ runHasEnded: boolean; isDue: boolean }>(
    `update approval a set confirmed_at = coalesce(a.confirmed_at, now()), updated_at = now()
     from flow_run r where a.tenant_id = ? and a.id = ? and r.tenant_id = a.tenant_id and r.id = a.run_id
     returning r.ended_at is not null as "runHasEnded", a.expires_at <= clock_timestamp() as "isDue"`,
    [tx.tenantId, approvalId],
  );
  if (!row) return undefined;
  const approval = await approvalById(tx, approvalId, { forUpdate: true });
  if (isOpen(approval.status)) {
    if (row.runHasEnded) await settle(tx, approval, 'stale', RUN_ENDED);
    else if (row.isDue) await settle(tx, approval, 'expired', { source: 'timer' });
  }
  const [state] = await tx.sql<ApprovalState>(
    `select status, run_id as "runId", ceil(extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as "expiresInMs"
     from approval where tenant_id = ? and id = ?`,
    [tx.tenantId, approvalId],
  );
  return state;
}

/** Records that the run's workflow was notified how its approval was settled. */
export async function markRunNotified({ sql, tenantId }: Tx, approvalId: string): Promise<void> {
  await sql('update approval set told_at = now() where tenant_id = ? and id = ? and told_at is null', [
    tenantId,
    approvalId,
  ]);
}

/** Expires the approval of a run whatever its time, as a worker outside says; one that is settled stays as it is. Throws `not_found`. */
export async function expireOfRun(tx: Tx, runId: string): Promise<void> {
  const approval = await findApprovalOfRun(tx, runId);
  if (!approval) throw notFound('An approval of this run');
  if (!isOpen(approval.status)) return;
  await settleFromOutside(tx, approval, 'expired', { source: 'worker' });
}

/** Makes stale what a run waited for that has ended; nothing when it is settled, or there is none. */
export async function makeApprovalOfRunStale(tx: Tx, runId: string): Promise<void> {
  const approval = await findApprovalOfRun(tx, runId);
  if (approval && isOpen(approval.status)) await settleFromOutside(tx, approval, 'stale', RUN_ENDED);
}

/** Makes stale what was requested for a release candidate that is no longer what it was. */
export async function makeApprovalsStale(
  tx: Tx,
  candidate: { projectId: string; domain: string; releaseName: string },
  comment: string,
): Promise<void> {
  for (const approval of await openApprovalsOf(tx, candidate))
    await settleFromOutside(tx, approval, 'stale', { source: 'release_candidate', comment });
}
