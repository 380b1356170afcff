import {
  applyDecision,
  openApproval,
  reevaluateApproval,
} from '../../../domain/delivery/approvals/approvals.mutations.ts';
import {
  approvalById,
  type ApprovalState,
  markRunNotified,
} from '../../../domain/delivery/approvals/approvals.queries.ts';
import type { ApprovalStatus } from '../../../domain/delivery/approvals/approval-rules.ts';
import { runById } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { DomainError, type ErrorCode } from '../../../domain/kernel/shared/errors.ts';
import type { DecisionMade } from '../../../domain/delivery/approvals/decisions.ts';
import { approvalContract } from '../../../workflows/delivery/approvals/approval.contract.ts';
import type { Deps } from '../../deps.ts';
import { asNonRetryable } from '../../non-retryable.ts';

interface ApprovalKey extends TenantKey {
  approvalId: string;
}

export const createApprovalActivities = ({ actingAs, reads, launch }: Deps) => {
  const inTenant = (tenant: TenantKey) => actingAs(systemActor(tenant, 'approval'));
  return {
    /**
     * The approval of a run, requested when this is the first call; `isNeeded` is false when nothing asks for one. The
     * run's workflow gets the signal `approvalSettled`. Fails for good when the run's payload names a senseless policy.
     */
    openApproval: ({
      tenantId,
      tenantSlug,
      runId,
    }: TenantKey & { runId: string }): Promise<{ approvalId: string; isNeeded: boolean }> =>
      asNonRetryable(async () => {
        const tenant = { tenantId, tenantSlug };
        const { requestedBy, requestId, traceparent } = await runById(reads.as(systemActor(tenant, 'approval')), runId);
        const context = { requestId: requestId ?? undefined, traceparent: traceparent ?? undefined };
        const opened = await actingAs({ ...requestedBy, ...tenant }, context)((tx) => openApproval(tx, runId));
        if (!opened) return { approvalId: '', isNeeded: false };
        await launch.start(approvalContract, { ...tenant, ...opened });
        return { approvalId: opened.approvalId, isNeeded: true };
      }),

    /** The status of an approval, for a run that may have missed its signal. Fails for good when it was removed. */
    approvalState: ({ approvalId, ...tenant }: ApprovalKey): Promise<{ status: ApprovalStatus }> =>
      asNonRetryable(() => inTenant(tenant)(async (tx) => ({ status: (await approvalById(tx, approvalId)).status }))),

    /** Settles what is to be settled without people; null when the approval was removed. */
    reevaluateApproval: async ({ approvalId, ...tenant }: ApprovalKey): Promise<ApprovalState | null> =>
      (await inTenant(tenant)((tx) => reevaluateApproval(tx, approvalId))) ?? null,

    /** Writes a person's decision in their name. A refusal is an answer, not a failure to be repeated. */
    async decideApproval({
      approvalId,
      decision,
      comment,
      by,
      requestId,
      traceparent,
      via,
      ...tenant
    }: ApprovalKey & DecisionMade): Promise<
      { status: ApprovalStatus } | { refusal: { code: ErrorCode; message: string } }
    > {
      try {
        const status = await actingAs(
          { ...by, ...tenant },
          { requestId, traceparent },
        )((tx) => applyDecision(tx, approvalId, decision, { comment, via }));
        return { status };
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        return { refusal: { code: error.code, message: error.message } };
      }
    },

    markRunNotified: ({ approvalId, ...tenant }: ApprovalKey): Promise<void> =>
      inTenant(tenant)((tx) => markRunNotified(tx, approvalId)),
  };
};
export type ApprovalActivities = ReturnType<typeof createApprovalActivities>;
