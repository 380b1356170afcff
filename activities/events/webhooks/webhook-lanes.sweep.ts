import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { disableWebhook } from '../../../domain/events/webhooks/webhooks.mutations.ts';
import { createLaneStore } from '../../../domain/events/webhooks/lane-store.queries.ts';
import { deliverSignal, webhookLaneContract } from '../../../workflows/events/webhooks/webhook-lane.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** A lane with nobody at work whose deliveries are due for this long lost its signal. */
const OVERDUE_MS = 5_000;

/** Signals lanes whose signal was lost: Temporal was away, or a process ended between its commit and the signal. */
export const webhookLanesSweep = defineSweep({
  name: 'webhook-lanes',
  concurrency: 20,
  due: ({ system }, limit) => createLaneStore(system).overdue(OVERDUE_MS, limit),
  key: ({ webhookId }) => webhookId,
  handle: ({ launch }, lane) => launch.signalWithStart(webhookLaneContract, lane, deliverSignal),
});

/** Disables webhooks for which this was noted and then not executed. */
export const failedWebhooksSweep = defineSweep({
  name: 'failed-webhooks',
  limit: 100,
  due: ({ system }, limit) => createLaneStore(system).toDisable(limit),
  key: ({ webhookId }) => webhookId,
  handle: ({ actingAs }, { webhookId, ...tenant }) =>
    actingAs(systemActor(tenant, 'webhook-lane'))((tx) => disableWebhook(tx, webhookId)),
});
