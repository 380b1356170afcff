import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { PumpActivities } from '../../../activities/events/webhooks/pump.activities.ts';
import { PUMP } from '../../activity-options.ts';
import { runLane } from '../../lane.ts';
import { deliverSignal, type Lane } from './webhook-lane.contract.ts';

const { pumpLane } = proxyActivities<PumpActivities>(PUMP);

/** Runs while its webhook has something to deliver. */
export const webhookLane = (lane: Lane): Promise<void> =>
  runLane({
    signal: deliverSignal,
    pump: () => pumpLane(lane),
    again: () => continueAsNew<typeof webhookLane>(lane),
    pausedUntil: 'next delivery',
  });
