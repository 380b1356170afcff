import type { ApprovalStatus, Decision } from '../../domain/approvals/approval-rules.ts';
import type { ApprovalState } from '../../domain/approvals/approvals.queries.ts';
import type { Actor, TenantKey } from '../../domain/shared/actor.ts';
import { defineContract, defineQuery, defineSignal, defineUpdate } from '../launch.ts';

/** One approval that a run waits for. */
export interface ApprovalInput extends TenantKey {
  approvalId: string;
  taskType: string;
  repositoryIdentifier: string | null;
}

export const APPROVALS_QUEUE = 'approvals-v1';

export const approvalContract = defineContract('approval', {
  taskQueue: APPROVALS_QUEUE,
  workflowId: ({ tenantSlug, approvalId }) => `${tenantSlug}/approval/${approvalId}`,
  summary: ({ taskType, repositoryIdentifier }) =>
    `Approval of ${taskType}${repositoryIdentifier === null ? '' : ` of ${repositoryIdentifier}`}`,
  searchAttributes: ({ tenantSlug, approvalId, repositoryIdentifier }) => ({
    Tenant: tenantSlug,
    TaskType: 'approval',
    EntityId: approvalId,
    ...(repositoryIdentifier !== null && { Repository: repositoryIdentifier }),
  }),
});

/** A person's decision. */
export interface DecisionMade {
  decision: Decision;
  comment: string | null;
  by: Actor;
  requestId: string;
  traceparent: string | undefined;
}

/** A person decides; returns the status of the approval after it. Refused once the approval is settled. */
export const decideUpdate = defineUpdate<ApprovalStatus, [DecisionMade]>('decide');
/** The row of the approval changed, or its run ended. */
export const recheckSignal = defineSignal('recheck');
/** The approval's state when it was last read; null before that. */
export const approvalStateQuery = defineQuery<ApprovalState | null>('state');

/** Sent to a run's workflow when the approval for which it waits is settled. */
export const approvalSettledSignal = defineSignal<[ApprovalSettled]>('approvalSettled');
export interface ApprovalSettled {
  approvalId: string;
  status: ApprovalStatus;
}
