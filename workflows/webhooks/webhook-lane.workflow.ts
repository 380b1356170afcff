import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { PumpActivities } from '../../activities/webhooks/pump.activities.ts';
import { LANE_PUMP } from '../activity-options.ts';
import { type Lane, WAKE_SIGNAL } from './webhook-lane.contract.ts';

const wake = defineSignal(WAKE_SIGNAL);
const { pumpLane } = proxyActivities<PumpActivities>(LANE_PUMP);

/**
 * Lives while its webhook has something to deliver, and completes when it has not; a wake revives it. None is lost at
 * the end: one that came during the last pump is in `isWoken`, and for one that comes while this code decides to
 * complete, the server refuses the completion and replays it with the signal.
 */
export async function webhookLane(lane: Lane): Promise<void> {
  let isWoken = false;
  setHandler(wake, () => {
    isWoken = true;
  });
  for (;;) {
    isWoken = false;
    const nextDueInMs = await pumpLane(lane);
    if (!isWoken) {
      if (nextDueInMs === null) return;
      if (nextDueInMs > 0) await condition(() => isWoken, nextDueInMs);
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookLane>(lane);
  }
}
