import { proxyActivities } from '@temporalio/workflow';
import type { EnvironmentLockActivities } from '../../activities/environment-locks/environment-locks.activities.ts';
import { UNTIL_DONE } from '../activity-options.ts';
import { ENVIRONMENT_LOCKS_QUEUE } from '../environment-locks/environment-lock.contract.ts';
import { queueBeside } from './queues.ts';

export type ApprovalStatus = 'requested' | 'approved' | 'rejected' | 'expired' | 'stale';

interface ApprovalActivities {
  openApproval(run: { tenantId: string; runId: string }): Promise<{ approvalId: string; isNeeded: boolean }>;
  approvalState(input: { tenantId: string; approvalId: string }): Promise<{ status: ApprovalStatus }>;
}

/** What approvals offer to runs; a decision comes by the signal `approvalSettled`. */
export const approvals = () => proxyActivities<ApprovalActivities>({ ...UNTIL_DONE, taskQueue: queueBeside('approvals-v1') });

/** What environment locks offer to runs; a grant comes by the signal `lockGranted`. */
export const locks = () => proxyActivities<EnvironmentLockActivities>({ ...UNTIL_DONE, taskQueue: queueBeside(ENVIRONMENT_LOCKS_QUEUE) });
