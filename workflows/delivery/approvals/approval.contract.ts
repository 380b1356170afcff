import { APPROVALS_QUEUE } from '../../queues.contract.ts';
import type { ApprovalStatus } from '../../../domain/delivery/approvals/approval-rules.ts';
import type { ApprovalState } from '../../../domain/delivery/approvals/approvals.queries.ts';
import type { DecisionMade, SendDecision } from '../../../domain/delivery/approvals/decisions.ts';
import { type TenantKey, tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { idEnd, idPath, idSegment } from '../../../domain/kernel/text/id-segment-rules.ts';
import {
  defineContract,
  defineQuery,
  defineSignal,
  defineUpdate,
  EngineUnavailableError,
  type Launch,
} from '../../launch.ts';

/** One approval that a run waits for. */
export interface ApprovalInput extends TenantKey {
  approvalId: string;
  taskType: string;
  repositoryIdentifier: string | null;
}

export const approvalContract = defineContract('approval', {
  taskQueue: APPROVALS_QUEUE,
  workflowId: ({ tenantSlug, taskType, repositoryIdentifier, approvalId }) =>
    [
      tenantSlug,
      'approval',
      idSegment(taskType),
      repositoryIdentifier && idPath(repositoryIdentifier),
      idEnd(approvalId),
    ]
      .filter((segment) => segment !== null)
      .join('/'),
  summary: ({ taskType, repositoryIdentifier }) =>
    `Approval of ${taskType}${repositoryIdentifier === null ? '' : ` of ${repositoryIdentifier}`}`,
  searchAttributes: ({ tenantSlug, approvalId, repositoryIdentifier }) => ({
    Tenant: tenantSlug,
    TaskType: 'approval',
    EntityId: approvalId,
    ...(repositoryIdentifier !== null && { Repository: repositoryIdentifier }),
  }),
});

/** A person decides; returns the status of the approval after it. Refused once the approval is settled. */
export const decideUpdate = defineUpdate<ApprovalStatus, [DecisionMade]>('decide');
/** How long a caller waits for a decision to be applied. */
const ANSWER_MS = 5_000;

/** @param onAway is told of a decision that was not answered. */
export const sendDecision =
  (launch: Launch, onAway: (error: unknown, approvalId: string) => void): SendDecision =>
  async ({ id: approvalId, taskType, repositoryIdentifier }, made) => {
    const input = { ...tenantOf(made.by), approvalId, taskType, repositoryIdentifier };
    try {
      await launch.updateWithStart(approvalContract, input, decideUpdate, { args: [made], timeoutMs: ANSWER_MS });
    } catch (error) {
      if (!(error instanceof EngineUnavailableError)) throw error;
      onAway(error, approvalId);
      throw new DomainError(
        'unavailable',
        'The workflow engine, which takes decisions, does not answer; try again soon: retrying is safe',
      );
    }
  };

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
