import { WEBHOOKS_QUEUE } from '../../queues.contract.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { idSegment } from '../../../domain/kernel/text/id-segment-rules.ts';
import { defineContract, defineSignal, type Launch } from '../../launch.ts';

/** The queue of deliveries to one webhook: lanes never wait for each other. */
export interface Lane extends TenantKey {
  webhookId: string;
  /** Null of a webhook that a process of an earlier version made. */
  laneName: string | null;
}

/** There is something new to deliver. */
export const deliverSignal = defineSignal('deliver');

export const webhookLaneContract = defineContract('webhookLane', {
  taskQueue: WEBHOOKS_QUEUE,
  workflowId: ({ tenantSlug, webhookId, laneName }) => `${tenantSlug}/webhook/${idSegment(laneName ?? webhookId)}`,
  summary: ({ webhookId, laneName }) => `Deliveries of webhook ${laneName ?? webhookId}`,
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

/** Webhooks whose names a process keeps: the names of one that has more are read again. */
const NAMES_MAX = 50_000;

/** The names of the lanes of webhooks, by webhook. */
export type FindLaneNames = (
  tenant: TenantKey,
  webhookIds: readonly string[],
) => Promise<ReadonlyMap<string, string | null>>;

/**
 * Signals lanes after a commit, without waiting; lost signals are recovered by the sweeper.
 * @param find is asked for names that this process does not know yet. They never change.
 */
export const signalLanes = (launch: Launch, find: FindLaneNames) => {
  const known = new Map<string, string | null>();
  const signal = (lane: Lane) => launch.signalWithStartInBackground(webhookLaneContract, lane, deliverSignal, QUIET_MS);
  const signalNamed = async (tenant: TenantKey, webhookIds: readonly string[]) => {
    const names = await find(tenant, webhookIds);
    if (known.size > NAMES_MAX) known.clear();
    for (const [webhookId, laneName] of names) {
      known.set(webhookId, laneName);
      signal({ ...tenant, webhookId, laneName });
    }
  };
  return ({ tenantId, tenantSlug }: TenantKey, webhookIds: readonly string[]): void => {
    const tenant = { tenantId, tenantSlug };
    const unknown: string[] = [];
    for (const webhookId of webhookIds) {
      const laneName = known.get(webhookId);
      if (laneName === undefined) unknown.push(webhookId);
      else signal({ ...tenant, webhookId, laneName });
    }
    if (unknown.length === 0) return;
    void signalNamed(tenant, unknown).catch(() => undefined);
  };
};
