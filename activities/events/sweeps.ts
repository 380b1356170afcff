import { defineChore, type Sweep } from '../kernel/system/define-sweep.ts';
import { createLaneStore } from '../../domain/events/webhooks/lane-store.queries.ts';
import { failedWebhooksSweep, webhookLanesSweep } from './webhooks/webhook-lanes.sweep.ts';

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [
  failedWebhooksSweep,
  webhookLanesSweep,
  defineChore({
    name: 'expired-deliveries',
    run: ({ system, webhooks }) => createLaneStore(system).purge(webhooks.logRetentionDays),
  }),
];
