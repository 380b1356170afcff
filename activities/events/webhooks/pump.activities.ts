import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimedDelivery, LaneStore } from '../../../domain/events/webhooks/lane-store.queries.ts';
import type { Outcome } from '../../../domain/events/webhooks/outcomes.queries.ts';
import type { WebhookSender } from '../../../domain/events/webhooks/webhook-sender.port.ts';
import { Slots } from '../../../domain/kernel/queues/slots.ts';
import { type Lane, LINGER_MS } from '../../../workflows/events/webhooks/webhook-lane.contract.ts';
import type { DuePoller } from '../../due-poller.ts';
import { asPump, pumpRows } from '../../row-pump.ts';
import { attemptDelivery } from './delivery-attempt.ts';
import type { LaneTarget } from './lane-target.ts';

/** Most requests that one lane has open at a time. */
const OPEN_MAX = 32;
/** Most deliveries that it holds, the open ones included. */
const HELD_MAX = 96;
const WAIT_MAX_MS = 5_000;
const STOP_GRACE_MS = 2_000;
/** While the database is away, outcomes are kept in memory for this long; the lease is longer. */
const RECORD_TIMEOUT_MS = 12_000;
const RECORD_RETRY_MS = 250;

export interface PumpParts {
  store: Pick<LaneStore, 'claim' | 'release' | 'releaseAll' | 'nextDueInMs'>;
  record: (outcome: Outcome) => Promise<void>;
  /** Told that an outcome was recorded. Returns at once and never throws. */
  onRecorded: (lane: Lane) => void;
  /** How the lane's webhook is to be called, at that revision or a later one. */
  target: (lane: Lane, revision: number) => Promise<LaneTarget>;
  send: WebhookSender;
  poller: DuePoller;
}

export type PumpActivities = ReturnType<typeof createPumpActivities>;

export const createPumpActivities = (parts: PumpParts) => ({
  /** Delivers what is due in a lane, and what becomes due while it is hot; answers in how many ms there is more, or null. */
  pumpLane: (lane: Lane): Promise<number | null> =>
    asPump(
      () => parts.store.releaseAll(lane),
      (stop) => pumpDeliveries(lane, parts, stop),
    ),
});

function pumpDeliveries(lane: Lane, parts: PumpParts, stop: AbortSignal): Promise<number | null> {
  const { store, record, onRecorded, send, poller } = parts;
  const { webhookId } = lane;
  const open = new Slots({ works: 'deliveries', total: OPEN_MAX });
  const targetOf = currentTarget((revision) => parts.target(lane, revision));
  return pumpRows<ClaimedDelivery, Outcome>(
    {
      claim: (limit) => store.claim(lane, limit),
      inSlot: (work) => open.run(webhookId, work),
      handle: async (delivery, cut) => attemptDelivery(delivery, await targetOf(delivery.revision), send, cut),
      note: async (outcome) => {
        await recorded(record, outcome);
        onRecorded(lane);
      },
      release: (deliveries) => store.release(deliveries),
      nextDueInMs: () => store.nextDueInMs(lane),
      waitForDue: (claimed, withinMs) => poller.waitForDue(webhookId, claimed, withinMs),
      heldMax: HELD_MAX,
      refillAt: HELD_MAX / 2,
      waitMaxMs: WAIT_MAX_MS,
      lingerMs: LINGER_MS,
      graceMs: STOP_GRACE_MS,
    },
    stop,
  );
}

/** Fetches the target once for all that need a revision which is not known yet. */
function currentTarget(fetch: (revision: number) => Promise<LaneTarget>) {
  let target: LaneTarget | undefined;
  let fetching: Promise<LaneTarget> | undefined;
  return async (revision: number): Promise<LaneTarget> => {
    while (target === undefined || target.revision < revision) {
      fetching ??= fetch(revision).finally(() => {
        fetching = undefined;
      });
      target = await fetching;
    }
    return target;
  };
}

/** What a receiver has got must not be sent again because the database was away for a while. */
async function recorded(record: PumpParts['record'], outcome: Outcome): Promise<void> {
  const giveUpAt = performance.now() + RECORD_TIMEOUT_MS;
  for (;;) {
    try {
      return await record(outcome);
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await sleep(RECORD_RETRY_MS);
    }
  }
}
