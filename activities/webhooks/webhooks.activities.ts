import { systemActor } from '../../domain/shared/actor.ts';
import { batched } from '../../domain/shared/batched.ts';
import { disableWebhook } from '../../domain/webhooks/disable.queries.ts';
import { createLaneStore, type LaneKey, type Outcome } from '../../domain/webhooks/lane-store.queries.ts';
import { WAKE_SIGNAL, webhookLaneContract } from '../../workflows/webhooks/webhook-lane.contract.ts';
import type { Deps } from '../deps.ts';
import { createDuePoller } from './due-poller.ts';
import { openTarget } from './lane-target.ts';
import { createPumpActivities, type PumpActivities } from './pump.activities.ts';

/** Nobody waits for a record, and each costs the same for one outcome as for ten. */
const RECORD_REST_MS = 5;

/** The activities of the delivery lanes, over the lanes' own connections. */
export function createWebhookActivities(deps: Deps): PumpActivities {
  const store = createLaneStore(deps.systemPool);
  const recordAll = async (outcomes: Outcome[]): Promise<void[]> => {
    for (const lane of await store.record(outcomes)) {
      disable(deps, lane).catch((error: unknown) => deps.log.error({ err: error, ...lane }, 'not disabled yet'));
    }
    return outcomes.map(() => undefined);
  };
  const record = batched(recordAll, { restMs: RECORD_REST_MS });
  return createPumpActivities({
    store,
    record,
    target: async (lane) => openTarget(lane.webhookId, await store.target(lane), deps.encryption),
    send: deps.webhooks.send,
    bell: createDuePoller(store, (error) => deps.log.warn({ err: error }, 'the lanes could not ask what is due')),
  });
}

const disable = (deps: Deps, { tenantId, webhookId }: LaneKey): Promise<void> =>
  deps.actingAs(systemActor(tenantId, 'webhook-lane'))((tx) => disableWebhook(tx, webhookId));

/** A lane with nobody at work whose deliveries are due for this long lost its wake. */
const OVERDUE_MS = 5_000;
const WAKES_AT_ONCE = 20;

/** Wakes lanes whose wake was lost: Temporal was away, or a process ended between its commit and the wake. */
export async function sweepLanes(deps: Deps): Promise<number> {
  const overdue = await createLaneStore(deps.systemPool).overdue(OVERDUE_MS);
  for (let at = 0; at < overdue.length; at += WAKES_AT_ONCE) {
    const some = overdue.slice(at, at + WAKES_AT_ONCE);
    await Promise.all(some.map((lane) => deps.launch.signal(webhookLaneContract, lane, WAKE_SIGNAL)));
  }
  return overdue.length;
}

/** Disables webhooks for which this was noted and then not carried out. */
export async function sweepDisabled(deps: Deps): Promise<number> {
  const lanes = await createLaneStore(deps.systemPool).toDisable();
  for (const lane of lanes) await disable(deps, lane);
  return lanes.length;
}
