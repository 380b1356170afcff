import { setTimeout as sleep } from 'node:timers/promises';
import type { OrgPolls } from '../../../domain/orgs/org-limits/org-polls.ts';
import type { ClaimedOrg, PollClaims } from '../../../domain/orgs/org-limits/poll-claims.queries.ts';
import type { OrgPoll } from '../../../domain/orgs/org-limits/polls.mutations.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { batched } from '../../../domain/kernel/queues/batched.ts';
import type { PumpReport } from '../../../workflows/orgs/org-limits/org-limits.contract.ts';
import { WorkQueue } from '../../work-queue.ts';

/** Most orgs that this process asks at a time, and of one tenant: a tenant whose orgs hang holds up no other. */
const OPEN_MAX = 64;
const OPEN_PER_TENANT = 16;
/** Most orgs that a pump holds, those included that wait for a slot or are being recorded. */
const HELD_MAX = 32;
/** A claimed org that has waited this long for its turn is released: its lease must outlive its poll. */
const WAIT_MAX_MS = 60_000;
/** A pump ends after this, so that one whose orgs are always due still moves between workers. */
const PUMP_RUN_MS = 300_000;
/** While orgs are being asked, others may become due. */
const CLAIM_EVERY_MS = 500;
/** Nobody waits for a record, and one of ten polls costs little more than one of one. */
const RECORD_REST_MS = 10;
const RECORD_MAX_REST_MS = 100;

export interface PollPumpParts {
  store: Pick<PollClaims, 'claim' | 'release'>;
  polls: Pick<OrgPolls, 'ask' | 'record'>;
}

/** Asks the orgs of a tenant that are due for their limits, until none is due or `stop`. */
export type PumpOrgs = (tenant: TenantKey, stop: AbortSignal) => Promise<PumpReport>;

/** @returns a pump for all tenants, which share the slots of the process. */
export function createPollPump(parts: PollPumpParts): PumpOrgs {
  const open: Slots = new WorkQueue((work) => work(), OPEN_MAX);
  return (tenant, stop) => new PollPump(tenant, parts, open, stop).run();
}

type Slots = WorkQueue<() => Promise<void>>;

class PollPump {
  readonly #tenant: TenantKey;
  readonly #parts: PollPumpParts;
  readonly #open: Slots;
  readonly #openOfTenant: Slots = new WorkQueue((work) => work(), OPEN_PER_TENANT);
  readonly #stop: AbortSignal;
  readonly #held = new WorkQueue<ClaimedOrg>((org) => this.#poll(org));
  readonly #record: (poll: OrgPoll) => Promise<void>;
  readonly #toRelease: ClaimedOrg[] = [];
  readonly #report = { polled: 0, failed: 0 };

  constructor(tenant: TenantKey, parts: PollPumpParts, open: Slots, stop: AbortSignal) {
    this.#tenant = tenant;
    this.#parts = parts;
    this.#open = open;
    this.#stop = stop;
    const recordAll = async (polls: OrgPoll[]): Promise<void[]> => {
      await parts.polls.record(tenant, polls);
      return polls.map(() => undefined);
    };
    this.#record = batched(recordAll, { restMs: RECORD_REST_MS, maxRestMs: RECORD_MAX_REST_MS });
  }

  async run(): Promise<PumpReport> {
    const endAt = performance.now() + PUMP_RUN_MS;
    try {
      while (!this.#stop.aborted && performance.now() < endAt) {
        const claimed = await this.#parts.store.claim(this.#tenant, HELD_MAX - this.#held.size);
        for (const org of claimed) this.#held.add(org);
        await this.#release();
        this.#held.throwFailure();
        if (this.#held.size === 0) return { ...this.#report, isMoreDue: false };
        // Refills in halves: a claim of many rows costs little more than one of few.
        const pause = sleep(CLAIM_EVERY_MS, undefined, { ref: false });
        await Promise.race([this.#held.downTo(Math.min(HELD_MAX / 2, this.#held.size - 1)), pause]);
      }
    } finally {
      await this.#held.downTo(0);
      await this.#release();
    }
    this.#held.throwFailure();
    return { ...this.#report, isMoreDue: true };
  }

  async #release(): Promise<void> {
    const orgs = this.#toRelease.splice(0);
    if (orgs.length > 0) await this.#parts.store.release(this.#tenant, orgs);
  }

  async #poll(org: ClaimedOrg): Promise<void> {
    const claimedAt = performance.now();
    const poll = await inSlot(this.#openOfTenant, () =>
      inSlot(this.#open, async () => {
        const hasWaited = performance.now() - claimedAt > WAIT_MAX_MS;
        return this.#stop.aborted || hasWaited ? 'cut off' : this.#parts.polls.ask(this.#tenant, org, this.#stop);
      }),
    );
    if (poll === 'cut off') {
      this.#toRelease.push(org);
      return;
    }
    await this.#record(poll);
    if (poll.answer.isOk) this.#report.polled++;
    else this.#report.failed++;
  }
}

/** Waits for a free slot, and works in it. */
const inSlot = <Result>(slots: Slots, work: () => Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => slots.add(() => work().then(resolve, reject)));
