import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { ChatLaneActivities } from '../../../activities/people/chat/chat-lane.activities.ts';
import { LANE_PUMP } from '../../activity-options.ts';
import { actSignal, type ChatLane } from './chat-lane.contract.ts';

const { pumpChatLane } = proxyActivities<ChatLaneActivities>(LANE_PUMP);

/** Runs while there is something to do in its workspace, then completes; a signal starts it again. See `webhookLane`. */
export async function chatLane(lane: ChatLane): Promise<void> {
  let isSignalled = false;
  setHandler(actSignal, () => {
    isSignalled = true;
  });
  for (;;) {
    isSignalled = false;
    const nextDueInMs = await pumpChatLane(lane);
    if (!isSignalled) {
      if (nextDueInMs === null) return;
      if (nextDueInMs > 0) await condition(() => isSignalled, nextDueInMs, { summary: 'next attempt' });
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof chatLane>(lane);
  }
}
