import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import type { ClaimedDelivery, LaneStore } from '../../../domain/events/webhooks/lane-store.queries.ts';
import type { Outcome } from '../../../domain/events/webhooks/outcomes.queries.ts';
import type { WebhookSender } from '../../../domain/events/webhooks/webhook-sender.port.ts';
import { type Lane, LINGER_MS } from '../../../workflows/events/webhooks/webhook-lane.contract.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { attemptDelivery } from './delivery-attempt.ts';
import type { DuePoller } from './due-poller.ts';
import type { LaneTarget } from './lane-target.ts';
import { WorkQueue } from '../../work-queue.ts';

/** Most requests that one lane has open at a time. */
const OPEN_MAX = 32;
/** Most deliveries that it holds, the open ones included: a claim of many rows costs little more than one of few. */
const HELD_MAX = 96;
/** A claimed delivery that has waited this long is released: its lease must outlive its attempt. */
const WAIT_MAX_MS = 5_000;
/** Most outcomes that are not recorded yet; with more, the lane claims nothing. */
const UNRECORDED_MAX = 128;
const POLL_WAIT_MS = 500;
/** A pump ends after this, so that a lane which is always hot still moves between workers and continues as new. */
const PUMP_RUN_MS = 300_000;
/** Told to stop, a pump gives its open requests this long before it cuts them off and releases their deliveries. */
const STOP_GRACE_MS = 2_000;
/** While the database is away, outcomes are kept in memory for this long; the lease is longer. */
const RECORD_TIMEOUT_MS = 12_000;
const RECORD_RETRY_MS = 250;

export interface PumpParts {
  store: Pick<LaneStore, 'claim' | 'release' | 'releaseAll' | 'nextDueInMs'>;
  record: (outcome: Outcome) => Promise<void>;
  /** How the lane's webhook is to be called, at that revision or a later one. */
  target: (lane: Lane, revision: number) => Promise<LaneTarget>;
  send: WebhookSender;
  poller: DuePoller;
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

interface Held {
  delivery: ClaimedDelivery;
  claimedAt: number;
}

class Pump {
  readonly #lane: Lane;
  readonly #parts: PumpParts;
  readonly #stop: AbortSignal;
  readonly #held = new WorkQueue<Held>((held) => this.#deliver(held), OPEN_MAX);
  readonly #unrecorded = new WorkQueue<Outcome>((outcome) => this.#record(outcome));
  readonly #cut = new AbortController();
  #toRelease: ClaimedDelivery[] = [];
  #target: LaneTarget | undefined;
  #fetching: Promise<LaneTarget> | undefined;

  constructor(lane: Lane, parts: PumpParts, stop: AbortSignal) {
    this.#lane = lane;
    this.#parts = parts;
    this.#stop = stop;
    stop.addEventListener('abort', this.#cutSoon, { once: true });
  }

  readonly #cutSoon = () => {
    setTimeout(() => this.#cut.abort(), STOP_GRACE_MS);
  };

  async run(): Promise<number | null> {
    const { store, poller } = this.#parts;
    const endAt = performance.now() + PUMP_RUN_MS;
    let checkAt = 0;
    while (!this.#stop.aborted && performance.now() < endAt) {
      const free = HELD_MAX - this.#held.size;
      const claimed = await store.claim(this.#lane, free);
      const claimedAt = performance.now();
      for (const delivery of claimed) this.#held.add({ delivery, claimedAt });
      if (claimed.length > 0) checkAt = claimedAt + LINGER_MS;
      await this.#unrecorded.downTo(UNRECORDED_MAX);
      // Refills in halves: a claim of many rows costs little more than one of few.
      if (claimed.length === free) await this.#held.downTo(HELD_MAX / 2);
      await this.#release();
      this.#throwFailure();
      if (claimed.length === free) continue;
      if (this.#held.size === 0 && performance.now() > checkAt) {
        const nextDueInMs = await store.nextDueInMs(this.#lane);
        // A Temporal timer may come a second late: near retries are waited for here.
        if (nextDueInMs === undefined || nextDueInMs > LINGER_MS) return nextDueInMs ?? null;
        checkAt = performance.now() + POLL_WAIT_MS;
      }
      await poller.waitForDue(this.#lane.webhookId, claimed.length, POLL_WAIT_MS);
    }
    await this.#finish();
    this.#throwFailure();
    return (await store.nextDueInMs(this.#lane)) ?? null;
  }

  /** Leaves nothing under way, however the run ended. */
  async close(): Promise<void> {
    this.#stop.removeEventListener('abort', this.#cutSoon);
    if (this.#held.size > 0) this.#cutSoon();
    await this.#finish().catch(() => undefined);
  }

  /** Releases what has not begun, and waits for the rest. */
  async #finish(): Promise<void> {
    this.#toRelease.push(...this.#held.removeWaiting().map(({ delivery }) => delivery));
    await this.#held.downTo(0);
    await this.#unrecorded.downTo(0);
    await this.#release();
  }

  #throwFailure(): void {
    this.#held.throwFailure();
    this.#unrecorded.throwFailure();
  }

  async #release(): Promise<void> {
    const deliveries = this.#toRelease.splice(0);
    if (deliveries.length > 0) await this.#parts.store.release(deliveries);
  }

  async #deliver({ delivery, claimedAt }: Held): Promise<void> {
    if (performance.now() - claimedAt > WAIT_MAX_MS) {
      this.#toRelease.push(delivery);
      return;
    }
    const target = await this.#targetOf(delivery.revision);
    const outcome = await attemptDelivery(delivery, target, this.#parts.send, this.#cut.signal);
    if (outcome === 'cut off') this.#toRelease.push(delivery);
    else this.#unrecorded.add(outcome);
  }

  async #targetOf(revision: number): Promise<LaneTarget> {
    while (this.#target === undefined || this.#target.revision < revision) {
      this.#fetching ??= this.#parts.target(this.#lane, revision).finally(() => {
        this.#fetching = undefined;
      });
      this.#target = await this.#fetching;
    }
    return this.#target;
  }

  /** What a receiver has got must not be sent again because the database was away for a while. */
  async #record(outcome: Outcome): Promise<void> {
    const giveUpAt = performance.now() + RECORD_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.#parts.record(outcome);
      } catch (error) {
        if (performance.now() > giveUpAt) throw error;
        await sleep(RECORD_RETRY_MS);
      }
    }
  }
}
