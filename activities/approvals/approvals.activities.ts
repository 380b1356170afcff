import { applyDecision, openApproval, reevaluateApproval } from '../../domain/approvals/approvals.mutations.ts';
import { approvalById, type ApprovalState, markRunNotified } from '../../domain/approvals/approvals.queries.ts';
import type { ApprovalStatus } from '../../domain/approvals/approval-rules.ts';
import { runById } from '../../domain/flows/flow-runs.queries.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { DomainError, type ErrorCode } from '../../domain/shared/errors.ts';
import { approvalContract, type DecisionMade } from '../../workflows/approvals/approval.contract.ts';
import type { Deps } from '../deps.ts';
import { asNonRetryable } from '../non-retryable.ts';

interface ApprovalKey {
  tenantId: string;
  approvalId: string;
}

export const createApprovalActivities = ({ actingAs, reads, launch }: Deps) => {
  const inTenant = (tenantId: string) => actingAs(systemActor(tenantId, 'approval'));
  return {
    /**
     * The approval of a run, requested when this is the first call; `isNeeded` is false when nothing asks for one. The
     * run's workflow gets the signal `approvalSettled`. Fails for good when the run's payload names a senseless policy.
     */
    openApproval: ({
      tenantId,
      runId,
    }: {
      tenantId: string;
      runId: string;
    }): Promise<{ approvalId: string; isNeeded: boolean }> =>
      asNonRetryable(async () => {
        const { requestedBy, requestId, traceparent } = await runById(
          reads.as(systemActor(tenantId, 'approval')),
          runId,
        );
        const context = { requestId: requestId ?? undefined, traceparent: traceparent ?? undefined };
        const opened = await actingAs({ ...requestedBy, tenantId }, context)((tx) => openApproval(tx, runId));
        if (!opened) return { approvalId: '', isNeeded: false };
        await launch.start(approvalContract, { tenantId, ...opened });
        return { approvalId: opened.approvalId, isNeeded: true };
      }),

    /** The status of an approval, for a run that may have missed its signal. */
    approvalState: ({ tenantId, approvalId }: ApprovalKey): Promise<{ status: ApprovalStatus }> =>
      inTenant(tenantId)(async (tx) => ({ status: (await approvalById(tx, approvalId)).status })),

    /** Settles what is to be settled without people; null when the approval was removed. */
    reevaluateApproval: async ({ tenantId, approvalId }: ApprovalKey): Promise<ApprovalState | null> =>
      (await inTenant(tenantId)((tx) => reevaluateApproval(tx, approvalId))) ?? null,

    /** Writes a person's decision in their name. A refusal is an answer, not a failure to be repeated. */
    async decideApproval({
      tenantId,
      approvalId,
      decision,
      comment,
      by,
      requestId,
      traceparent,
    }: ApprovalKey & DecisionMade): Promise<
      { status: ApprovalStatus } | { refusal: { code: ErrorCode; message: string } }
    > {
      try {
        const status = await actingAs(
          { ...by, tenantId },
          { requestId, traceparent },
        )((tx) => applyDecision(tx, approvalId, decision, comment));
        return { status };
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        return { refusal: { code: error.code, message: error.message } };
      }
    },

    markRunNotified: ({ tenantId, approvalId }: ApprovalKey): Promise<void> =>
      inTenant(tenantId)((tx) => markRunNotified(tx, approvalId)),
  };
};
export type ApprovalActivities = ReturnType<typeof createApprovalActivities>;
