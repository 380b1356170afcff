import { proxyActivities } from '@temporalio/workflow';
import type { ApprovalActivities } from '../../../activities/delivery/approvals/approvals.activities.ts';
import type { EnvironmentLockActivities } from '../../../activities/delivery/environment-locks/environment-locks.activities.ts';
import { UNTIL_DONE } from '../../activity-options.ts';
import { APPROVALS_QUEUE } from '../../queues.contract.ts';
import { ENVIRONMENT_LOCKS_QUEUE } from '../../queues.contract.ts';
import { queueBeside } from './queues.ts';

/** Activities of approvals for runs; a decision arrives by the signal `approvalSettled`. */
export const approvals = () =>
  proxyActivities<ApprovalActivities>({ ...UNTIL_DONE, taskQueue: queueBeside(APPROVALS_QUEUE) });

/** Activities of environment locks for runs; a grant arrives by the signal `lockGranted`. */
export const locks = () =>
  proxyActivities<EnvironmentLockActivities>({ ...UNTIL_DONE, taskQueue: queueBeside(ENVIRONMENT_LOCKS_QUEUE) });
