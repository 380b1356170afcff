import { defineContract, type Launch } from '../launch.ts';

/** The one queue of deliveries to one webhook: lanes never wait for each other. */
export interface Lane {
  tenantId: string;
  webhookId: string;
}

/** Tells a lane that there is something new. */
export const WAKE_SIGNAL = 'wake';

export const webhookLaneContract = defineContract<Lane>({
  workflow: 'webhookLane',
  taskQueue: 'webhooks-v1',
  workflowId: ({ tenantId, webhookId }) => `${tenantId}/webhook-lane/${webhookId}`,
  summary: ({ webhookId }) => `Deliveries of webhook ${webhookId}`,
  searchAttributes: ({ tenantId, webhookId }) => ({ Tenant: tenantId, TaskType: 'webhook-lane', EntityId: webhookId }),
});

/** How long a pump stays for more after its last delivery. */
export const LINGER_MS = 30_000;
/** A lane that was woken stays hot for `LINGER_MS`, so more wakes within this time would tell it nothing. */
export const QUIET_AFTER_WAKE_MS = 20_000;

/** Wakes lanes after a commit without waiting; the sweep makes good for a wake that is lost. */
export const laneWaker =
  (launch: Launch) =>
  (tenantId: string, webhookIds: readonly string[]): void => {
    for (const webhookId of webhookIds)
      launch.wake(webhookLaneContract, { tenantId, webhookId }, WAKE_SIGNAL, QUIET_AFTER_WAKE_MS);
  };
