import type { WorkerOptions } from '@temporalio/worker';
import { SYSTEM_QUEUE } from '../workflows/system/sweeper.contract.ts';
import type { Deps } from './deps.ts';
import { RELEASES_QUEUE } from '../workflows/release-candidates/release-domain.contract.ts';
import { AUDIT_QUEUE } from '../workflows/audit/audit-export.contract.ts';
import { APPROVALS_QUEUE } from '../workflows/approvals/approval.contract.ts';
import { ENVIRONMENT_LOCKS_QUEUE } from '../workflows/environment-locks/environment-lock.contract.ts';
import { createAuditExportActivities } from './audit/audit-exports.activities.ts';
import { createApprovalActivities } from './approvals/approvals.activities.ts';
import { createEnvironmentLockActivities } from './environment-locks/environment-locks.activities.ts';
import { createFlowActivities } from './flows/flows.activities.ts';
import { createCommandActivities } from './flows/commands.activities.ts';
import { COMMANDS_QUEUE, FLOWS_QUEUE } from '../workflows/flows/flow-run.contract.ts';
import { GIT_QUEUE } from '../workflows/git/git-mirror.contract.ts';
import { createBuildActivities } from './builds/builds.activities.ts';
import { createGitActivities } from './git/git.activities.ts';
import { createReleaseActivities } from './release-candidates/release-candidates.activities.ts';
import { createSweepActivities } from './system/system.activities.ts';
import { SWEEPS } from './system/sweeps.ts';
import { webhookLaneContract } from '../workflows/webhooks/webhook-lane.contract.ts';
import { createWebhookActivities } from './webhooks/webhooks.activities.ts';

/** Every lane that is hot holds a slot of its own, in which it mostly waits. */
const HOT_LANES_MAX = 2_000;

/** Each export reads and writes as fast as it can. */
const EXPORTS_AT_ONCE = 2;

/** Each command is a process of its own. */
const COMMANDS_AT_ONCE = 16;
/** Each is a git of its own, and bound by network, disk and processor. */
const GIT_AT_ONCE = 8;
/** One that hangs keeps no other from its turn, and the database from no other work. */
const SWEEPS_AT_ONCE = 8;

export interface TaskQueue {
  taskQueue: string;
  activities: object;
  options?: Partial<WorkerOptions>;
}

/** Every task queue of the service with the activities that run on it. */
export const taskQueues = (deps: Deps): TaskQueue[] => [
  { taskQueue: APPROVALS_QUEUE, activities: createApprovalActivities(deps) },
  {
    taskQueue: AUDIT_QUEUE,
    activities: createAuditExportActivities(deps),
    options: { maxConcurrentActivityTaskExecutions: EXPORTS_AT_ONCE },
  },
  { taskQueue: ENVIRONMENT_LOCKS_QUEUE, activities: createEnvironmentLockActivities(deps) },
  { taskQueue: RELEASES_QUEUE, activities: createReleaseActivities(deps) },
  {
    taskQueue: GIT_QUEUE,
    activities: { ...createGitActivities(deps), ...createBuildActivities(deps) },
    options: { maxConcurrentActivityTaskExecutions: GIT_AT_ONCE },
  },
  {
    taskQueue: webhookLaneContract.taskQueue,
    activities: createWebhookActivities(deps),
    options: { maxConcurrentActivityTaskExecutions: HOT_LANES_MAX },
  },
  { taskQueue: FLOWS_QUEUE, activities: createFlowActivities(deps) },
  {
    taskQueue: COMMANDS_QUEUE,
    activities: createCommandActivities(deps),
    // A cancellation comes with the answer to a heartbeat: held back, as they are by default, it would take five seconds.
    options: {
      maxConcurrentActivityTaskExecutions: COMMANDS_AT_ONCE,
      maxHeartbeatThrottleInterval: '500 milliseconds',
    },
  },
  {
    taskQueue: SYSTEM_QUEUE,
    activities: createSweepActivities(deps, SWEEPS),
    options: { maxConcurrentActivityTaskExecutions: SWEEPS_AT_ONCE },
  },
];
