import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import type { ClaimedDelivery, LaneStore } from '../../domain/webhooks/lane-store.queries.ts';
import type { Outcome } from '../../domain/webhooks/outcomes.queries.ts';
import type { WebhookSender } from '../../domain/webhooks/webhook-sender.port.ts';
import { type Lane, LINGER_MS } from '../../workflows/webhooks/webhook-lane.contract.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { tryDelivery } from './delivery-try.ts';
import type { DuePoller } from './due-poller.ts';
import type { LaneTarget } from './lane-target.ts';
import { OpenTries } from './open-tries.ts';

/** Most requests that one lane has open at a time. */
const LANE_WINDOW = 32;
const BELL_WAIT_MS = 500;
/** A pump hands over after this, so that a lane always hot still moves between workers and continues as new. */
const PUMP_RUN_MS = 300_000;
/** Told to stop, a pump gives its open requests this long before it cuts them and gives their deliveries back. */
const STOP_PATIENCE_MS = 2_000;
/** While the database is away, what came of a try is kept in memory for this long; the lease is longer. */
const RECORD_PATIENCE_MS = 12_000;
const RECORD_AGAIN_MS = 250;

export interface PumpParts {
  store: Pick<LaneStore, 'claim' | 'release' | 'releaseAll' | 'nextDueInMs'>;
  record: (outcome: Outcome) => Promise<void>;
  /** How the lane's webhook is to be called, at that revision or a later one. */
  target: (lane: Lane, revision: number) => Promise<LaneTarget>;
  send: WebhookSender;
  bell: DuePoller;
}

export type PumpActivities = ReturnType<typeof createPumpActivities>;

export const createPumpActivities = (parts: PumpParts) => ({
  /** Delivers what is due in a lane, and what becomes due while it is hot; answers in how many ms there is more, or null. */
  pumpLane: (lane: Lane): Promise<number | null> =>
    withHeartbeat(async (stop) => {
      const pump = new Pump(lane, parts, stop);
      try {
        if (activityInfo().attempt > 1) await parts.store.releaseAll(lane);
        return await pump.run();
      } finally {
        await pump.close();
      }
    }),
});

class Pump {
  readonly #lane: Lane;
  readonly #parts: PumpParts;
  readonly #stop: AbortSignal;
  readonly #open = new OpenTries();
  readonly #cut = new AbortController();
  readonly #cutOff: ClaimedDelivery[] = [];
  #target: LaneTarget | undefined;

  constructor(lane: Lane, parts: PumpParts, stop: AbortSignal) {
    this.#lane = lane;
    this.#parts = parts;
    this.#stop = stop;
    stop.addEventListener('abort', this.#cutSoon, { once: true });
  }

  readonly #cutSoon = () => {
    setTimeout(() => this.#cut.abort(), STOP_PATIENCE_MS);
  };

  async run(): Promise<number | null> {
    const { store, bell } = this.#parts;
    const handOverAt = performance.now() + PUMP_RUN_MS;
    let hotUntil = performance.now();
    while (!this.#stop.aborted && performance.now() < handOverAt) {
      const free = LANE_WINDOW - this.#open.size;
      const claimed = await store.claim(this.#lane, free);
      for (const delivery of claimed) this.#open.add(this.#deliver(delivery));
      if (claimed.length > 0) hotUntil = performance.now() + LINGER_MS;
      const isFull = claimed.length === free;
      // Refills in halves: a claim costs the same for one row as for sixteen. While there is room nothing is waited
      // for: a receiver that hangs would keep the rest of the window from what comes later.
      if (isFull) await this.#open.downTo(LANE_WINDOW / 2);
      this.#open.throwFailure();
      if (isFull) continue;
      const hasRung = await bell.waitForDue(this.#lane.webhookId, BELL_WAIT_MS);
      if (hasRung || this.#open.size > 0 || performance.now() < hotUntil) continue;
      const nextDueInMs = await store.nextDueInMs(this.#lane);
      // A Temporal timer may come a second late: near retries are waited for here.
      if (nextDueInMs === undefined || nextDueInMs > LINGER_MS) return nextDueInMs ?? null;
    }
    await this.#open.downTo(0);
    this.#open.throwFailure();
    await this.#giveBack();
    return (await store.nextDueInMs(this.#lane)) ?? null;
  }

  /** Leaves nothing under way, however the run ended. */
  async close(): Promise<void> {
    this.#stop.removeEventListener('abort', this.#cutSoon);
    if (this.#open.size > 0) {
      this.#cutSoon();
      await this.#open.downTo(0);
    }
    await this.#giveBack().catch(() => undefined);
  }

  async #giveBack(): Promise<void> {
    const cutOff = this.#cutOff.splice(0);
    if (cutOff.length > 0) await this.#parts.store.release(cutOff);
  }

  async #deliver(delivery: ClaimedDelivery): Promise<void> {
    const target = await this.#targetOf(delivery.revision);
    const outcome = await tryDelivery(delivery, target, this.#parts.send, this.#cut.signal);
    if (outcome === 'cut off') this.#cutOff.push(delivery);
    else await this.#record(outcome);
  }

  async #targetOf(revision: number): Promise<LaneTarget> {
    if (this.#target === undefined || this.#target.revision < revision) {
      this.#target = await this.#parts.target(this.#lane, revision);
    }
    return this.#target;
  }

  /** What a receiver has got must not be sent again because the database was away for a moment. */
  async #record(outcome: Outcome): Promise<void> {
    const giveUpAt = performance.now() + RECORD_PATIENCE_MS;
    for (;;) {
      try {
        return await this.#parts.record(outcome);
      } catch (error) {
        if (performance.now() > giveUpAt) throw error;
        await sleep(RECORD_AGAIN_MS);
      }
    }
  }
}
