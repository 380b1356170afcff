import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { batched } from '../../../domain/kernel/queues/batched.ts';
import {
  createLaneStore,
  type LaneKey,
  type StoredTarget,
} from '../../../domain/events/webhooks/lane-store.queries.ts';
import { deliveriesOf } from '../../../domain/events/webhooks/event-topics.ts';
import type { Outcome } from '../../../domain/events/webhooks/outcomes.queries.ts';
import { disableWebhook } from '../../../domain/events/webhooks/webhooks.mutations.ts';
import type { Deps } from '../../deps.ts';
import { createDuePoller } from '../../due-poller.ts';
import { type LaneTarget, openTarget } from './lane-target.ts';
import { createPumpActivities, type PumpActivities } from './pump.activities.ts';

/** Nobody waits for a record, and one of ten outcomes costs little more than one of one. */
const RECORD_REST_MS = 5;
const RECORD_MAX_REST_MS = 15;

/** Makes of the target of a webhook one that posts to a channel of a chat. */
export type OpenChannel = (
  lane: LaneKey,
  target: LaneTarget,
  stored: StoredTarget & { channel: string },
) => Promise<LaneTarget>;

/** The activities of the delivery lanes, over connections of their own. */
export function createWebhookActivities(deps: Deps, openChannel: OpenChannel): PumpActivities {
  const store = createLaneStore(deps.webhooks.lanes);
  const recordAll = async (outcomes: Outcome[]): Promise<void[]> => {
    for (const lane of await store.record(outcomes)) {
      disable(deps, lane).catch((error: unknown) => deps.log.error({ err: error, ...lane }, 'not disabled yet'));
    }
    for (const { delivery, next, attempt } of outcomes) {
      if (next.status !== 'failed') continue;
      const { tenantId, id, event, attempts } = delivery;
      const reason = attempt?.error ?? attempt?.statusCode;
      deps.log.info({ tenantId, delivery: id, event, attempts: attempts + 1, reason }, 'delivery given up');
    }
    return outcomes.map(() => undefined);
  };
  const record = batched(recordAll, { restMs: RECORD_REST_MS, maxRestMs: RECORD_MAX_REST_MS });
  return createPumpActivities({
    store,
    record,
    onRecorded: (lane) => deps.signals.changed(lane, [deliveriesOf(lane.webhookId)]),
    async target(lane) {
      const stored = await store.target(lane);
      const target = openTarget(lane, stored, deps.encryption);
      return stored.channel === null ? target : openChannel(lane, target, { ...stored, channel: stored.channel });
    },
    send: deps.webhooks.send,
    poller: createDuePoller(store.dueWebhooks, (error) =>
      deps.log.warn({ err: error }, 'the lanes could not find out what is due'),
    ),
  });
}

const disable = (deps: Deps, { webhookId, ...tenant }: LaneKey): Promise<void> =>
  deps.actingAs(systemActor(tenant, 'webhook-lane'))((tx) => disableWebhook(tx, webhookId));
