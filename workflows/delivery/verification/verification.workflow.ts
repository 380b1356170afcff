import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { VerificationActivities } from '../../../activities/delivery/verification/verification.activities.ts';
import { OUTSIDE_CALL, UNTIL_DONE } from '../../activity-options.ts';
import { type VerificationInput, verificationChangedSignal } from './verification.contract.ts';

const { openVerification, settleVerification } = proxyActivities<VerificationActivities>(UNTIL_DONE);
const { lookAtCheck } = proxyActivities<VerificationActivities>(OUTSIDE_CALL);

/** Looks at the checks of a deployment until they have ended; what became of them is in rows. */
export async function verification(input: VerificationInput): Promise<void> {
  let hasChanged = false;
  setHandler(verificationChangedSignal, () => {
    hasChanged = true;
  });
  for (;;) {
    hasChanged = false;
    const open = await openVerification(input);
    if (!open) return;
    setCurrentDetails(open.text);
    await Promise.all(open.checkIds.map((checkId) => look({ ...input, checkId })));
    const waitMs = await settleVerification(input);
    if (waitMs === null) return;
    await condition(() => hasChanged, waitMs);
    if (!workflowInfo().continueAsNewSuggested) continue;
    await condition(allHandlersFinished);
    return continueAsNew<typeof verification>(input);
  }
}

/** A look that fails is repeated with the next one; in the end the time of the check is over. */
async function look(input: VerificationInput & { checkId: string }): Promise<void> {
  try {
    await lookAtCheck(input);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
}
