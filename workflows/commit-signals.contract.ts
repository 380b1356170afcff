import type { CommitSignals } from '../domain/unit-of-work.ts';
import { approvalContract, recheckSignal } from './approvals/approval.contract.ts';
import type { Launch } from './launch.ts';
import { signalLanes } from './webhooks/webhook-lane.contract.ts';

/** Signals to one approval within this time are coalesced. */
const QUIET_MS = 20;

/** The signals that follow the commit of a unit of work. */
export const createCommitSignals = (launch: Launch): CommitSignals => ({
  lanes: signalLanes(launch),
  approvals({ tenantId, tenantSlug }, approvals) {
    for (const approval of approvals)
      launch.signalWithStartInBackground(
        approvalContract,
        { tenantId, tenantSlug, ...approval },
        recheckSignal,
        QUIET_MS,
      );
  },
});
