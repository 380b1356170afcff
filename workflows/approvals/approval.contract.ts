import type { ApprovalStatus, Decision } from '../../domain/approvals/approval-rules.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import { defineContract, defineUpdate } from '../launch.ts';

/** One approval that a run waits for. */
export interface ApprovalInput {
  tenantId: string;
  approvalId: string;
  taskType: string;
  repositoryIdentifier: string | null;
}

export const APPROVALS_QUEUE = 'approvals-v1';

export const approvalContract = defineContract<ApprovalInput>({
  workflow: 'approval',
  taskQueue: APPROVALS_QUEUE,
  workflowId: ({ tenantId, approvalId }) => `${tenantId}/approval/${approvalId}`,
  summary: ({ taskType, repositoryIdentifier }) =>
    `Approval of ${taskType}${repositoryIdentifier === null ? '' : ` of ${repositoryIdentifier}`}`,
  searchAttributes: ({ tenantId, approvalId, repositoryIdentifier }) => ({
    Tenant: tenantId,
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

/** Update: a person decides; answers what became of the approval. Refused once it is settled. */
export const DECIDE = defineUpdate<DecisionMade, ApprovalStatus>('decide');
/** Signal: the row of the approval changed, or its run ended. */
export const RECHECK_SIGNAL = 'recheck';

/** Told to a run's workflow when the approval for which it waits is settled. */
export const APPROVAL_SETTLED_SIGNAL = 'approvalSettled';
export interface ApprovalSettled {
  approvalId: string;
  status: ApprovalStatus;
}
