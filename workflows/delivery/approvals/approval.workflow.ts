import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { ApprovalActivities } from '../../../activities/delivery/approvals/approvals.activities.ts';
import { assertOpen, isOpen } from '../../../domain/delivery/approvals/approval-rules.ts';
import type { ApprovalState } from '../../../domain/delivery/approvals/approvals.queries.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { LOCAL_DATABASE_WORK } from '../../activity-options.ts';
import { signalRun } from '../flows/signal-run.ts';
import {
  type ApprovalInput,
  approvalSettledSignal,
  approvalStateQuery,
  decideUpdate,
  recheckSignal,
} from './approval.contract.ts';

const { reevaluateApproval, decideApproval, markRunNotified } =
  proxyLocalActivities<ApprovalActivities>(LOCAL_DATABASE_WORK);

/**
 * Keeps one approval until it is settled: by people, by expiry, or by a change of what is to be approved; then notifies
 * the run. Its state is in rows, so that it can be started again at any time.
 */
export async function approval({ tenantId, tenantSlug, approvalId }: ApprovalInput): Promise<void> {
  const key = { tenantId, tenantSlug, approvalId };
  let state: ApprovalState | null = null;
  let needsRecheck = false;
  const isSettled = () => state !== null && !isOpen(state.status);

  setHandler(
    decideUpdate,
    async (made) => {
      const answer = await decideApproval({ ...key, ...made });
      if ('refusal' in answer) throw ApplicationFailure.nonRetryable(answer.refusal.message, answer.refusal.code);
      if (state) state = { ...state, status: answer.status };
      // The first read may have been before the decision.
      else needsRecheck = true;
      return answer.status;
    },
    { validator: (_made) => assertStillOpen(state) },
  );
  setHandler(recheckSignal, () => {
    needsRecheck = true;
  });
  setHandler(approvalStateQuery, () => state);

  for (;;) {
    needsRecheck = false;
    state = await reevaluateApproval(key);
    if (state === null || isSettled()) break;
    setCurrentDetails(`Waiting for a decision on run ${state.runId}`);
    await condition(() => needsRecheck || isSettled(), Math.max(1, state.expiresInMs), { summary: 'approval expires' });
    if (isSettled()) break;
  }
  if (state !== null) {
    setCurrentDetails(`Settled: ${state.status}`);
    await signalRun({ tenantSlug, ...state }, approvalSettledSignal, { approvalId, status: state.status });
    await markRunNotified(key);
  }
  await condition(allHandlersFinished);
}

function assertStillOpen(state: ApprovalState | null): void {
  try {
    if (state) assertOpen(state.status);
  } catch (error) {
    if (error instanceof DomainError) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  }
}
