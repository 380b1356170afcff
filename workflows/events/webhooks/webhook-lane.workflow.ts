import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { PumpActivities } from '../../../activities/events/webhooks/pump.activities.ts';
import { LANE_PUMP } from '../../activity-options.ts';
import { deliverSignal, type Lane } from './webhook-lane.contract.ts';

const { pumpLane } = proxyActivities<PumpActivities>(LANE_PUMP);

/**
 * Runs while its webhook has something to deliver, then completes; a signal starts it again. No signal is lost at the
 * end: one that came during the last pump is in `isSignalled`, and when one comes while this code decides to complete,
 * the server refuses the completion and replays it with the signal.
 */
export async function webhookLane(lane: Lane): Promise<void> {
  let isSignalled = false;
  setHandler(deliverSignal, () => {
    isSignalled = true;
  });
  for (;;) {
    isSignalled = false;
    const nextDueInMs = await pumpLane(lane);
    if (!isSignalled) {
      if (nextDueInMs === null) return;
      if (nextDueInMs > 0) await condition(() => isSignalled, nextDueInMs, { summary: 'next delivery' });
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookLane>(lane);
  }
}
