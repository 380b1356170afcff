import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { ApprovalActivities } from '../../activities/approvals/approvals.activities.ts';
import { type ApprovalStatus, isOpen, assertOpen } from '../../domain/approvals/approval-rules.ts';
import type { ApprovalStanding } from '../../domain/approvals/settle-approval.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { LOCAL_DATABASE_WORK } from '../activity-options.ts';
import { flowWorkflowId } from '../flows/flow-id.contract.ts';
import {
  APPROVAL_SETTLED_SIGNAL,
  type ApprovalInput,
  type ApprovalSettled,
  DECIDE,
  type DecisionMade,
  RECHECK_SIGNAL,
} from './approval.contract.ts';

const { lookAfterApproval, decideApproval, noteRunTold } =
  proxyLocalActivities<ApprovalActivities>(LOCAL_DATABASE_WORK);

const decideUpdate = defineUpdate<ApprovalStatus, [DecisionMade]>(DECIDE.update);
const recheckSignal = defineSignal(RECHECK_SIGNAL);
const standingQuery = defineQuery<ApprovalStanding | null>('standing');
const approvalSettled = defineSignal<[ApprovalSettled]>(APPROVAL_SETTLED_SIGNAL);

/**
 * Keeps one approval until it is settled: by people, by its time, or by a change of what is to be approved. All its
 * facts are rows, so that it may start anew at any time. Then it tells the run.
 */
export async function approval({ tenantId, approvalId }: ApprovalInput): Promise<void> {
  const key = { tenantId, approvalId };
  let standing: ApprovalStanding | null = null;
  let isToRecheck = false;
  const isSettled = () => standing !== null && !isOpen(standing.status);

  setHandler(
    decideUpdate,
    async (made) => {
      const answer = await decideApproval({ ...key, ...made });
      if ('refusal' in answer) throw ApplicationFailure.nonRetryable(answer.refusal.message, answer.refusal.code);
      if (standing) standing = { ...standing, status: answer.status };
      // What the first look found may be older than the decision.
      else isToRecheck = true;
      return answer.status;
    },
    { validator: (_made) => assertStillOpen(standing) },
  );
  setHandler(recheckSignal, () => {
    isToRecheck = true;
  });
  setHandler(standingQuery, () => standing);

  for (;;) {
    isToRecheck = false;
    standing = await lookAfterApproval(key);
    if (standing === null || isSettled()) break;
    setCurrentDetails(`Waiting for a decision on run ${standing.runId}`);
    await condition(() => isToRecheck || isSettled(), Math.max(1, standing.expiresInMs));
    if (isSettled()) break;
  }
  if (standing !== null) {
    setCurrentDetails(`Settled: ${standing.status}`);
    await tell(tenantId, standing.runId, { approvalId, status: standing.status });
    await noteRunTold(key);
  }
  await condition(allHandlersFinished);
}

function assertStillOpen(standing: ApprovalStanding | null): void {
  try {
    if (standing) assertOpen(standing.status);
  } catch (error) {
    if (error instanceof DomainError) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  }
}

/** A run that has ended in the meantime needs no answer. */
async function tell(tenantId: string, runId: string, settled: ApprovalSettled): Promise<void> {
  try {
    await getExternalWorkflowHandle(flowWorkflowId(tenantId, runId)).signal(approvalSettled, settled);
  } catch {
    // There is nobody to tell.
  }
}
