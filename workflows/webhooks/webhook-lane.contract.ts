import type { TenantKey } from '../../domain/shared/actor.ts';
import { defineContract, defineSignal, type Launch } from '../launch.ts';

/** The queue of deliveries to one webhook: lanes never wait for each other. */
export interface Lane extends TenantKey {
  webhookId: string;
}

/** There is something new to deliver. */
export const deliverSignal = defineSignal('deliver');

export const webhookLaneContract = defineContract('webhookLane', {
  taskQueue: 'webhooks-v1',
  workflowId: ({ tenantSlug, webhookId }) => `${tenantSlug}/webhook/${webhookId}`,
  summary: ({ webhookId }) => `Deliveries of webhook ${webhookId}`,
  searchAttributes: ({ tenantSlug, webhookId }) => ({
    Tenant: tenantSlug,
    TaskType: 'webhook-lane',
    EntityId: webhookId,
  }),
});

/** How long a pump polls for more after its last delivery. */
export const LINGER_MS = 30_000;
/** A lane that was signalled stays hot for `LINGER_MS`, so that further signals within this time are not needed. */
export const QUIET_MS = 20_000;

/** Signals lanes after a commit, without waiting; lost signals are recovered by the sweeper. */
export const signalLanes =
  (launch: Launch) =>
  ({ tenantId, tenantSlug }: TenantKey, webhookIds: readonly string[]): void => {
    for (const webhookId of webhookIds)
      launch.signalWithStartInBackground(
        webhookLaneContract,
        { tenantId, tenantSlug, webhookId },
        deliverSignal,
        QUIET_MS,
      );
  };
