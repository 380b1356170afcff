import { CancellationScope, setHandler, sleep } from '@temporalio/workflow';
import { tenantOf } from '../../domain/shared/actor.ts';
import type { RunStepActivities } from '../../activities/flows/run-steps.activities.ts';
import type { RunKey } from '../../domain/flows/new-runs.mutations.ts';
import type { RunOutcome } from '../../domain/flows/flow-runs.mutations.ts';
import type { RunTicketState } from '../../activities/environment-locks/environment-locks.activities.ts';
import { lockGrantedSignal } from '../environment-locks/environment-lock.contract.ts';
import type { ApprovalStatus } from '../../domain/approvals/approval-rules.ts';
import { approvalSettledSignal } from '../approvals/approval.contract.ts';
import { approvals, locks } from './gates.ts';
import { INTERNAL_POLL, PollBackoff } from './poll-backoff.ts';

export interface LockRequest {
  environmentId: string;
  leaseMinutes: number;
}

const REFUSALS: Record<'rejected' | 'expired' | 'stale', RunOutcome> = {
  rejected: { status: 'rejected', error: 'The approval was refused' },
  expired: { status: 'expired', error: 'Nobody decided on the approval in time' },
  stale: { status: 'cancelled', error: 'What was to be approved changed' },
};

/** The gates that one run passes before it is carried out. Signals may arrive early, twice or never. */
export class RunGates {
  readonly #run: RunKey;
  readonly #enterStep: RunStepActivities['enterStep'];
  readonly #decisions = new Map<string, ApprovalStatus>();
  readonly #granted = new Set<string>();
  #lock: LockRequest | undefined;
  #ticketId: string | undefined;

  constructor(run: RunKey, enterStep: RunStepActivities['enterStep']) {
    this.#run = run;
    this.#enterStep = enterStep;
    setHandler(approvalSettledSignal, ({ approvalId, status }) => void this.#decisions.set(approvalId, status));
    setHandler(lockGrantedSignal, ({ ticketId }) => void this.#granted.add(ticketId));
  }

  /** Waits for the approval; returns the outcome of the run when it is not given. */
  async passApproval(): Promise<RunOutcome | undefined> {
    const { approvalId, isNeeded } = await approvals().openApproval(this.#run);
    if (!isNeeded) return undefined;
    await this.#enterStep({ ...this.#run, status: 'waiting_approval' });
    const backoff = new PollBackoff(INTERNAL_POLL, 'poll approval');
    for (;;) {
      const isSignalled = await backoff.wait(() => this.#decisions.has(approvalId));
      const status = isSignalled
        ? this.#decisions.get(approvalId)
        : (await approvals().approvalState({ ...tenantOf(this.#run), approvalId })).status;
      if (status === 'approved') return undefined;
      if (status && status !== 'requested') return REFUSALS[status];
    }
  }

  /** Waits for the environment's lock; returns the outcome of the run when it cannot be had. */
  async passLock(request: LockRequest): Promise<RunOutcome | undefined> {
    this.#lock = request;
    const { ticketId, state } = await locks().takeLock({ ...this.#run, ...request });
    this.#ticketId = ticketId;
    if (state === 'queued') await this.#enterStep({ ...this.#run, status: 'waiting_lock' });
    const backoff = new PollBackoff(INTERNAL_POLL, 'poll lock');
    for (let current: RunTicketState = state; current !== 'held'; ) {
      if (current === 'ended')
        return { status: 'failed', error: 'The ticket for the lock of the environment ended before the run had it' };
      const isSignalled = await backoff.wait(() => this.#granted.has(ticketId));
      current = isSignalled ? 'held' : (await locks().lockState(this.#ticket)).state;
    }
    return undefined;
  }

  get #ticket() {
    return {
      ...tenantOf(this.#run),
      environmentId: this.#lock?.environmentId ?? '',
      ticketId: this.#ticketId ?? '',
    };
  }

  /** Carries out work, and extends the lease of the lock meanwhile, when there is one. */
  async whileHeld<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#lock) return work();
    const { leaseMinutes } = this.#lock;
    const extension = new CancellationScope();
    const extended = extension.run(async () => {
      for (;;) {
        await sleep(leaseMinutes * 30_000, { summary: 'extend lease' });
        await locks().extendLock({ ...this.#ticket, leaseMinutes });
      }
    });
    extended.catch(() => undefined);
    try {
      return await work();
    } finally {
      extension.cancel();
    }
  }

  /** Returns the lock, or the place in its queue; does nothing when none was requested. */
  async returnLock(): Promise<void> {
    if (this.#lock) await locks().returnLock(this.#run);
  }
}
