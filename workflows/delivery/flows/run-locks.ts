import { CancellationScope, condition, isCancellation, setHandler } from '@temporalio/workflow';
import type { RunTicketState } from '../../../activities/delivery/environment-locks/environment-locks.activities.ts';
import type { RunStepActivities } from '../../../activities/delivery/flows/run-steps.activities.ts';
import type { LockRequest } from '../../../domain/delivery/flows/programs/executor-rules.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { LOCK_LOST } from '../../../domain/delivery/flows/gates/lock-lost-rules.ts';
import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { lockGrantedSignal, lockLostSignal } from '../environment-locks/environment-lock.contract.ts';
import { locks } from './gates.ts';
import { INTERNAL_POLL, PollBackoff } from './poll-backoff.ts';

interface HeldLock extends LockRequest {
  ticketId: string;
}

/** Work ends this part of its lease before that, if the lease cannot be extended: to stop it takes time. */
const MARGIN = 0.1;

/** How long an extension that is late already may take: until the run has ended nobody else gets the lock. */
const ANSWER_MS = 10_000;

const TICKET_ENDED: RunOutcome = {
  status: 'failed',
  error: 'The ticket for the lock of the environment ended before the run had it',
};

/**
 * The locks of the environments that one run is about. Work goes on only while all of them are held: it is cancelled
 * when one was lost, or its lease could not be extended in time. Signals may arrive early, twice or never.
 */
export class RunLocks {
  readonly #run: RunKey;
  readonly #enterStep: RunStepActivities['enterStep'];
  readonly #granted = new Set<string>();
  readonly #lost = new Set<string>();
  #isRequested = false;
  #isLost = false;

  constructor(run: RunKey, enterStep: RunStepActivities['enterStep']) {
    this.#run = run;
    this.#enterStep = enterStep;
    setHandler(lockGrantedSignal, ({ ticketId }) => void this.#granted.add(ticketId));
    setHandler(lockLostSignal, ({ ticketId }) => void this.#lost.add(ticketId));
  }

  get areRequested(): boolean {
    return this.#isRequested;
  }

  /** Takes the locks one after another, then begins work and executes it while it holds them. */
  async whileHeld(
    requests: readonly LockRequest[],
    { begin, work }: { begin: () => Promise<void>; work: () => Promise<RunOutcome> },
  ): Promise<RunOutcome> {
    const [first] = requests;
    if (!first) {
      await begin();
      return work();
    }
    this.#isRequested = true;
    const held = new CancellationScope();
    const keepers = new CancellationScope();
    const keep = (lock: HeldLock) =>
      keepers.run(async () => {
        await this.#untilLost(lock);
        this.#isLost = true;
        held.cancel();
      });
    try {
      const outcome = await held.run(async () => {
        for (const request of requests) {
          const lock = await this.#take(request);
          if (!('ticketId' in lock)) return lock;
          if (!(await this.#confirm(lock))) return LOCK_LOST;
          keep(lock).catch(() => undefined);
        }
        await begin();
        return work();
      });
      return this.#isLost && outcome.status === 'cancelled' ? lostWith(outcome) : outcome;
    } catch (error) {
      if (this.#isLost && isCancellation(error)) return LOCK_LOST;
      throw error;
    } finally {
      keepers.cancel();
    }
  }

  /** Waits for a lock; returns the outcome of the run when it cannot be had. */
  async #take(request: LockRequest): Promise<HeldLock | RunOutcome> {
    const { ticketId, state } = await locks().takeLock({ ...this.#run, ...request });
    const lock = { ...request, ticketId };
    if (state === 'queued') await this.#enterStep({ ...this.#run, status: 'waiting_lock' });
    const backoff = new PollBackoff(INTERNAL_POLL, 'poll lock');
    for (let current: RunTicketState = state; current !== 'held'; ) {
      if (current === 'ended') return TICKET_ENDED;
      const isSignalled = await backoff.wait(() => this.#granted.has(ticketId));
      current = isSignalled ? 'held' : (await locks().lockState(this.#ticketOf(lock))).state;
    }
    return lock;
  }

  #ticketOf({ environmentId, ticketId }: HeldLock) {
    return { ...tenantOf(this.#run), environmentId, ticketId };
  }

  #extend(lock: HeldLock): Promise<{ isHeld: boolean }> {
    return locks().extendLock({ ...this.#ticketOf(lock), leaseMinutes: lock.leaseMinutes });
  }

  /** Begins a lease of which enough is left, however long ago the lock was granted; false when it was lost since. */
  async #confirm(lock: HeldLock): Promise<boolean> {
    for (;;) {
      const end = endOfLease(lock);
      if (!(await this.#extend(lock)).isHeld) return false;
      if (Date.now() < end) return true;
    }
  }

  /** Extends the lease of a lock; returns when the lock was lost, or is about to be. */
  async #untilLost(lock: HeldLock): Promise<void> {
    const isLost = () => this.#lost.has(lock.ticketId);
    for (let end = endOfLease(lock); ; ) {
      if (await condition(isLost, lock.leaseMinutes * 30_000, { summary: 'extend lease' })) return;
      const next = endOfLease(lock);
      const extension = new CancellationScope();
      const answer = extension.run(() => this.#extend(lock));
      const waitMs = Math.max(ANSWER_MS, end - Date.now());
      const signalled = extension.run(() => condition(isLost, waitMs, { summary: 'lease is about to end' }));
      const isHeld = await Promise.race([answer.then((extended) => extended.isHeld), signalled.then(() => false)]);
      extension.cancel();
      for (const rest of [answer, signalled]) rest.catch(() => undefined);
      if (!isHeld) return;
      end = next;
    }
  }

  /** Returns the locks, or the places in their queues; does nothing when none was requested. */
  async return(): Promise<void> {
    if (this.#isRequested) await locks().returnLock(this.#run);
  }
}

/** When work must be over that begins, or goes on, with an extension that is requested now. */
const endOfLease = ({ leaseMinutes }: HeldLock): number => Date.now() + leaseMinutes * 60_000 * (1 - MARGIN);

const lostWith = ({ error }: RunOutcome): RunOutcome =>
  error === undefined ? LOCK_LOST : { ...LOCK_LOST, error: `${LOCK_LOST.error}; ${error}` };
