import {
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyLocalActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { ReleaseActivities } from '../../../activities/delivery/release-candidates/release-candidates.activities.ts';
import { LOCAL_DATABASE_WORK } from '../../activity-options.ts';
import {
  applyEventsUpdate,
  type OutcomesById,
  queuedEventsQuery,
  type ReleaseDomainInput,
} from './release-domain.contract.ts';

/** A domain that was idle for this long completes, at the latest after twice as long; the next event starts it again. */
const LINGER = '30 seconds';
/** Bounds the time of one local activity; further events go into the next batch. */
const EVENTS_PER_BATCH = 50;

const { applyReleaseEvents } = proxyLocalActivities<ReleaseActivities>(LOCAL_DATABASE_WORK);

/** The queued events of one domain, and the outcomes of those that were applied. */
class EventQueue {
  readonly #input: ReleaseDomainInput;
  readonly #queued: string[] = [];
  #outcomes = new Map<string, OutcomesById[string] | null>();
  #batches = 0;
  #isIdle = false;

  constructor(input: ReleaseDomainInput) {
    this.#input = input;
  }

  get length(): number {
    return this.#queued.length;
  }

  /** Waits until an event is queued, or the domain was idle for `LINGER`; answers whether it was not idle. */
  async waitForEvents(): Promise<boolean> {
    await condition(() => this.length > 0 || this.#isIdle);
    return !this.#isIdle;
  }

  /** One timer at a time, however many events come: to start and cancel one for each batch is work for the server. */
  async watchIdle(): Promise<void> {
    for (let seen = -1; seen !== this.#batches; ) {
      seen = this.#batches;
      await sleep(LINGER, { summary: 'idle' });
    }
    this.#isIdle = true;
  }

  /** Queues events and resolves when all of them are applied. */
  async apply(eventIds: string[]): Promise<OutcomesById> {
    this.#queued.push(...eventIds);
    await condition(() => eventIds.every((id) => this.#outcomes.has(id)));
    const answers: OutcomesById = {};
    for (const id of eventIds) {
      const outcome = this.#outcomes.get(id);
      if (outcome) answers[id] = outcome;
    }
    return answers;
  }

  async applyBatch(): Promise<void> {
    this.#batches++;
    const eventIds = this.#queued.splice(0, EVENTS_PER_BATCH);
    const outcomes = await applyReleaseEvents({ ...this.#input, eventIds });
    for (const id of eventIds) this.#outcomes.set(id, outcomes[id] ?? null);
  }

  /** Discards outcomes; no handler may be waiting for one. */
  discardOutcomes(): void {
    this.#outcomes = new Map();
  }
}

/** Applies the release events of one domain one after another, in the order in which they came. */
export async function releaseDomain(input: ReleaseDomainInput): Promise<void> {
  const queue = new EventQueue(input);
  setHandler(applyEventsUpdate, (eventIds) => queue.apply(eventIds));
  setHandler(queuedEventsQuery, () => queue.length);
  // A cancellation is reported by the loop below.
  queue.watchIdle().catch(() => undefined);
  for (;;) {
    const hasWork = await queue.waitForEvents();
    while (queue.length > 0) await queue.applyBatch();
    await condition(() => allHandlersFinished() || queue.length > 0);
    if (queue.length > 0) continue;
    queue.discardOutcomes();
    if (!hasWork) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof releaseDomain>(input);
  }
}
