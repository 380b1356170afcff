import { ActivityFailure, proxyActivities, setHandler, setWorkflowOptions } from '@temporalio/workflow';
import type { CheckActivities } from '../../../activities/delivery/flows/checks.activities.ts';
import { OUTSIDE_CALL } from '../../activity-options.ts';
import { checksChangedSignal, type FlowChecksInput } from './flow-checks.contract.ts';
import { endsOnItsBuild } from '../../versioning.ts';

const { writeChecks } = proxyActivities<CheckActivities>(OUTSIDE_CALL);

setWorkflowOptions(endsOnItsBuild, flowChecks);

/** Writes what is wanted until nothing new came meanwhile. What the host keeps refusing is left to the sweeper. */
export async function flowChecks(input: FlowChecksInput): Promise<void> {
  let hasChanged = true;
  setHandler(checksChangedSignal, () => {
    hasChanged = true;
  });
  while (hasChanged) {
    hasChanged = false;
    try {
      await writeChecks(input);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      return;
    }
  }
}
