import { setHandler } from '@temporalio/workflow';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import type { RunStepActivities } from '../../../activities/delivery/flows/run-steps.activities.ts';
import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import type { ApprovalStatus } from '../../../domain/delivery/approvals/approval-rules.ts';
import { approvalSettledSignal } from '../approvals/approval.contract.ts';
import { approvals } from './gates.ts';
import { INTERNAL_POLL, PollBackoff } from './poll-backoff.ts';

const REFUSALS: Record<'rejected' | 'expired' | 'stale', RunOutcome> = {
  rejected: { status: 'rejected', error: 'The approval was refused' },
  expired: { status: 'expired', error: 'Nobody decided on the approval in time' },
  stale: { status: 'cancelled', error: 'What was to be approved changed' },
};

/** The approval for which one run waits before it is executed. Signals may arrive early, twice or never. */
export class ApprovalGate {
  readonly #run: RunKey;
  readonly #enterStep: RunStepActivities['enterStep'];
  readonly #decisions = new Map<string, ApprovalStatus>();

  constructor(run: RunKey, enterStep: RunStepActivities['enterStep']) {
    this.#run = run;
    this.#enterStep = enterStep;
    setHandler(approvalSettledSignal, ({ approvalId, status }) => void this.#decisions.set(approvalId, status));
  }

  /** Waits for the approval; returns the outcome of the run when it is not given. */
  async pass(): Promise<RunOutcome | undefined> {
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
}
