import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { ChatLaneActivities } from '../../../activities/people/chat/chat-lane.activities.ts';
import { PUMP } from '../../activity-options.ts';
import { runLane } from '../../lane.ts';
import { actSignal, type ChatLane } from './chat-lane.contract.ts';

const { pumpChatLane } = proxyActivities<ChatLaneActivities>(PUMP);

/** Runs while there is something to do in its workspace. */
export const chatLane = (lane: ChatLane): Promise<void> =>
  runLane({
    signal: actSignal,
    pump: () => pumpChatLane(lane),
    again: () => continueAsNew<typeof chatLane>(lane),
  });
