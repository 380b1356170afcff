import type { Wakes } from '../domain/unit-of-work.ts';
import { approvalContract, RECHECK_SIGNAL } from './approvals/approval.contract.ts';
import type { Launch } from './launch.ts';
import { laneWaker } from './webhooks/webhook-lane.contract.ts';

/** Words to one approval within this time are one. */
const QUIET_MS = 20;

/** How workflows learn of what units of work committed. */
export const createWakes = (launch: Launch): Wakes => ({
  lanes: laneWaker(launch),
  approvals(tenantId, approvals) {
    for (const approval of approvals)
      launch.wake(approvalContract, { tenantId, ...approval }, RECHECK_SIGNAL, QUIET_MS);
  },
});
