import { ActivityFailure, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { CheckActivities } from '../../activities/flows/checks.activities.ts';
import { OUTSIDE_CALL } from '../activity-options.ts';
import { CHECKS_CHANGED_SIGNAL, type FlowChecksInput } from './flow-checks.contract.ts';

const { writeChecks } = proxyActivities<CheckActivities>(OUTSIDE_CALL);
const changed = defineSignal(CHECKS_CHANGED_SIGNAL);

/** Writes what is wanted until nothing new came meanwhile. What the host refuses for long is left to the sweep. */
export async function flowChecks({ tenantId, runId }: FlowChecksInput): Promise<void> {
  let isChanged = true;
  setHandler(changed, () => {
    isChanged = true;
  });
  while (isChanged) {
    isChanged = false;
    try {
      await writeChecks({ tenantId, runId });
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      return;
    }
  }
}
