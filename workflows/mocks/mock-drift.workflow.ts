import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  setCurrentDetails,
  setWorkflowOptions,
} from '@temporalio/workflow';
import type { MockDriftActivities } from '../../activities/mocks/mock-drift.activities.ts';
import { OUTSIDE_CALL, UNTIL_DONE } from '../activity-options.ts';
import { endsOnItsBuild } from '../versioning.ts';
import type { MockDriftInput } from './mock-drift.contract.ts';

const { compareSteps } = proxyActivities<MockDriftActivities>(OUTSIDE_CALL);
const { beginDrift, endDrift } = proxyActivities<MockDriftActivities>(UNTIL_DONE);

/** Steps that one activity asks for, one after the other: the upstream is somebody's host. */
const STEPS_AT_ONCE = 20;

setWorkflowOptions(endsOnItsBuild, mockDrift);

/** Asks the upstream of a scenario for its GET steps, and notes where it answers otherwise by now. */
export async function mockDrift(input: MockDriftInput): Promise<void> {
  const begun = await beginDrift(input);
  if (!begun) return;
  const { seqs, scenario, upstream } = begun;
  let checked = 0;
  let differing = 0;
  const say = () =>
    setCurrentDetails(
      `Scenario ${scenario}, upstream ${upstream}: ${checked} of ${seqs.length} steps asked for, ${differing} differ`,
    );
  say();
  try {
    for (let at = 0; at < seqs.length; at += STEPS_AT_ONCE) {
      const some = seqs.slice(at, at + STEPS_AT_ONCE);
      differing += await compareSteps({ ...input, seqs: some });
      checked += some.length;
      say();
    }
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    await endDrift({ ...input, checked, error: 'The comparison could not be ended' });
    throw ApplicationFailure.nonRetryable('The comparison could not be ended', 'drift_failed');
  }
  await endDrift({ ...input, checked, error: null });
}
