import { proxyActivities } from '@temporalio/workflow';
import { UNTIL_DONE } from '../activity-options.ts';
import { queueBeside } from './queues.ts';

interface RunKey {
  tenantId: string;
  runId: string;
}
interface Ticket {
  tenantId: string;
  environmentId: string;
  ticketId: string;
}

export type ApprovalStatus = 'requested' | 'approved' | 'rejected' | 'expired' | 'stale';

interface ApprovalActivities {
  openApproval(run: RunKey): Promise<{ approvalId: string; isNeeded: boolean }>;
  approvalState(input: { tenantId: string; approvalId: string }): Promise<{ status: ApprovalStatus }>;
}

interface LockActivities {
  takeLock(input: RunKey & { environmentId: string; leaseMinutes: number }): Promise<{ ticketId: string; state: LockState }>;
  lockState(ticket: Ticket): Promise<{ state: LockState }>;
  extendLock(ticket: Ticket & { leaseMinutes: number }): Promise<{ isHeld: boolean }>;
  returnLock(run: RunKey): Promise<void>;
}

export type LockState = 'held' | 'queued' | 'ended';

/** What approvals offer to runs; a decision comes by the signal `approvalSettled`. */
export const approvals = () => proxyActivities<ApprovalActivities>({ ...UNTIL_DONE, taskQueue: queueBeside('approvals-v1') });

/** What environment locks offer to runs; a grant comes by the signal `lockGranted`. */
export const locks = () => proxyActivities<LockActivities>({ ...UNTIL_DONE, taskQueue: queueBeside('environment-locks-v1') });
