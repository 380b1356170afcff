import type { WorkerOptions } from '@temporalio/worker';
import { SYSTEM_QUEUE } from '../workflows/queues.contract.ts';
import { chosenQueues } from './config.ts';
import type { Deps } from './deps.ts';
import { RELEASES_QUEUE } from '../workflows/queues.contract.ts';
import { AUDIT_QUEUE } from '../workflows/queues.contract.ts';
import { AI_QUEUE } from '../workflows/queues.contract.ts';
import { createAiReportActivities } from './insight/ai-reports/ai-reports.activities.ts';
import { APPROVALS_QUEUE } from '../workflows/queues.contract.ts';
import { ENVIRONMENT_LOCKS_QUEUE } from '../workflows/queues.contract.ts';
import { createAuditExportActivities } from './kernel/audit/audit-exports.activities.ts';
import { createApprovalActivities } from './delivery/approvals/approvals.activities.ts';
import { createBrowserSessionActivities } from './review/browser-sessions/browser-sessions.activities.ts';
import { startUrlOf } from './review/browser-sessions/start-url.ts';
import { createStartUrlActivities } from './review/browser-sessions/start-urls.activities.ts';
import { createSessionStateActivities } from './review/browser-sessions/session-state.activities.ts';
import { createChatLaneActivities } from './people/chat/chat-lane.activities.ts';
import { createEnvironmentLockActivities } from './delivery/environment-locks/environment-locks.activities.ts';
import { createReviewActivities } from './review/review-assignments/review-assignments.activities.ts';
import { createFlowActivities } from './delivery/flows/flows.activities.ts';
import { createVerificationActivities } from './delivery/verification/verification.activities.ts';
import { createCommandActivities, createOwnCommandActivities } from './delivery/flows/commands.activities.ts';
import {
  createOperationActivities,
  createPatchBranch,
  type Operations,
} from './delivery/flows/operations.activities.ts';
import { cascadeMerge } from './delivery/cascade/cascade-merge.ts';
import { installChangeset } from './delivery/org-deployments/install-changeset.ts';
import { installArtifacts } from './delivery/org-deployments/install-artifacts.ts';
import { runApexTests } from './delivery/apex-tests/run-apex-tests.ts';
import { installPackages } from './delivery/org-packages/install-packages.ts';
import { releaseOperation } from './delivery/org-releases/release-operation.ts';
import { uninstallPackages } from './delivery/org-packages/uninstall-packages.ts';
import { elevatePrivileges } from './delivery/org-people/elevate-privileges.ts';
import { takeBackPrivileges } from './delivery/org-people/take-back-privileges.ts';
import { freezePeople, unfreezePeople } from './delivery/org-people/freeze-people.ts';
import { SANDBOX_OPERATIONS } from './delivery/sandboxes/sandbox-operations.ts';
import { analyze } from './insight/code-analysis/analyze.ts';
import { runBrowserCheck } from './review/browser-checks/run-browser-check.ts';
import { recordSession } from './review/browser-sessions/record-session.ts';
import { preparePool } from './review/review-pools/prepare-pool.ts';
import { createChatTargets } from './people/chat/chat-target.ts';
import { ANALYSIS_QUEUE } from '../workflows/queues.contract.ts';
import { createNightlyAnalysisActivities } from './insight/code-analysis/nightly-analysis.activities.ts';
import { COMMANDS_QUEUE, FLOWS_QUEUE } from '../workflows/queues.contract.ts';
import { GIT_QUEUE } from '../workflows/queues.contract.ts';
import { createBuildActivities } from './ci/builds/builds.activities.ts';
import { createOrgLimitActivities } from './orgs/org-limits/org-limits.activities.ts';
import { createGitActivities } from './code/git/git.activities.ts';
import { createAnalysisResultActivities } from './insight/code-analysis/analysis-results.activities.ts';
import { createPullRequestActivities } from './code/pull-requests/pull-requests.activities.ts';
import { createMockDriftActivities } from './mocks/mock-drift.activities.ts';
import { createGcCheckActivities } from './orgs/gc-ledger/gc-check.activities.ts';
import { CRM_QUEUE } from '../workflows/queues.contract.ts';
import { createOrgExplorerActivities } from './orgs/org-explorer/org-explorer.activities.ts';
import { createMetricsActivities } from './insight/metrics/metrics.activities.ts';
import { createReleaseActivities } from './delivery/release-candidates/release-candidates.activities.ts';
import { createSweepActivities } from './kernel/system/system.activities.ts';
import { SWEEPS } from './sweeps.ts';
import { webhookLaneContract } from '../workflows/events/webhooks/webhook-lane.contract.ts';
import { createWorkItemReportActivities } from './work/work-item-requests/work-item-reports.activities.ts';
import { createWebhookActivities } from './events/webhooks/webhooks.activities.ts';

/** Every lane that is hot holds a slot of its own, in which it mostly waits. */
const HOT_LANES_MAX = 2_000;

/** Each export reads and writes as fast as it can. */
const EXPORTS_AT_ONCE = 2;

/** Each command is a process of its own. */
const COMMANDS_AT_ONCE = 16;
/** A cancellation comes with the answer to a heartbeat: held back, as they are by default, it would take five seconds. */
const QUICK_CANCELLATION = { maxHeartbeatThrottleInterval: '500 milliseconds' } satisfies Partial<WorkerOptions>;
/** Each is a git of its own, and bound by network, disk and processor. */
const GIT_AT_ONCE = 8;
/** The pump of each tenant holds one for as long as it polls. */
const CRM_AT_ONCE = 200;
/** Each mostly waits for a model. */
const AI_AT_ONCE = 20;
/** One that hangs keeps no other from its turn, and the database from no other work. */
const SWEEPS_AT_ONCE = 8;

/** One, and one that a lost worker left behind. */
const METRICS_PUMPS = 2;

/** What the service does for runs by itself. */
const OPERATIONS: Operations = {
  operations: {
    'create-patch-branch': createPatchBranch,
    'cascade-merge': cascadeMerge,
    analyze,
    'record-session': recordSession,
    'run-browser-check': runBrowserCheck,
    'request-freeze-users': freezePeople,
    'request-unfreeze-users': unfreezePeople,
    'request-elevated-privileges': elevatePrivileges,
  },
  undo: { 'request-elevated-privileges': takeBackPrivileges },
  followed: {
    ...SANDBOX_OPERATIONS,
    'run-apex-tests': runApexTests,
    'install-artifacts': installArtifacts,
    'install-changeset': installChangeset,
    'install-packages': installPackages,
    'uninstall-packages': uninstallPackages,
    'pool-prepare': preparePool,
    'pool-sandbox': SANDBOX_OPERATIONS['request-sandbox-create'],
    'pool-packages': installPackages,
    'pool-source': installArtifacts,
    'execute-release': releaseOperation,
    'rollback-release': releaseOperation,
  },
};

export interface TaskQueue {
  taskQueue: string;
  activities: object;
  options?: Partial<WorkerOptions>;
  /** It has activities alone. */
  isWithoutWorkflows?: boolean;
}

export interface WorkerQueues {
  queues: readonly TaskQueue[];
  /** The names of all activities of the service, also on queues that the worker does not serve. */
  activityNames: readonly string[];
}

/**
 * The task queues of those names with the activities that run on them; undefined: all of the service.
 * Throws `ConfigError` for a name that is none.
 */
export function workerQueues(deps: Deps, names: readonly string[] | undefined): WorkerQueues {
  const runsCommands = names?.includes(COMMANDS_QUEUE) ?? true;
  const all = allQueues(deps, { runsCommands });
  const queues = [...chosenQueues(all, names)];
  if (runsCommands) {
    queues.push({
      taskQueue: deps.flows.commandRuns.taskQueue,
      activities: createOwnCommandActivities(deps),
      options: QUICK_CANCELLATION,
      isWithoutWorkflows: true,
    });
  }
  return { queues, activityNames: [...all, ...queues].flatMap(({ activities }) => Object.keys(activities)) };
}

const allQueues = (deps: Deps, { runsCommands }: { runsCommands: boolean }): TaskQueue[] => [
  ...deliveryQueues(deps, { runsCommands }),
  ...codeQueues(deps),
  {
    taskQueue: AI_QUEUE,
    activities: createAiReportActivities(deps),
    options: {
      ...QUICK_CANCELLATION,
      maxConcurrentActivityTaskExecutions: AI_AT_ONCE,
      maxConcurrentLocalActivityExecutions: AI_AT_ONCE,
    },
  },
  {
    taskQueue: AUDIT_QUEUE,
    activities: createAuditExportActivities(deps),
    options: { maxConcurrentActivityTaskExecutions: EXPORTS_AT_ONCE },
  },
  {
    taskQueue: webhookLaneContract.taskQueue,
    activities: { ...createWebhookActivities(deps, createChatTargets(deps)), ...createChatLaneActivities(deps) },
    options: { maxConcurrentActivityTaskExecutions: HOT_LANES_MAX },
  },
  {
    taskQueue: CRM_QUEUE,
    activities: {
      ...createOrgLimitActivities(deps),
      ...createGcCheckActivities(deps),
      ...createOrgExplorerActivities(deps),
      ...createBrowserSessionActivities(deps, {
        ...deps.browsers,
        startUrlOf: (key, session) => startUrlOf(deps, key, session),
      }),
      ...createStartUrlActivities(deps),
      ...createOperationActivities(deps, OPERATIONS),
    },
    options: { maxConcurrentActivityTaskExecutions: CRM_AT_ONCE },
  },
  {
    taskQueue: SYSTEM_QUEUE,
    activities: {
      ...createSweepActivities(deps, SWEEPS),
      ...createMetricsActivities(deps),
      ...createNightlyAnalysisActivities(deps),
    },
    options: { maxConcurrentActivityTaskExecutions: SWEEPS_AT_ONCE + METRICS_PUMPS },
  },
];

const deliveryQueues = (deps: Deps, { runsCommands }: { runsCommands: boolean }): TaskQueue[] => [
  { taskQueue: APPROVALS_QUEUE, activities: createApprovalActivities(deps) },
  {
    taskQueue: ENVIRONMENT_LOCKS_QUEUE,
    activities: {
      ...createEnvironmentLockActivities(deps),
      ...createReviewActivities(deps),
      ...createSessionStateActivities(deps),
    },
  },
  { taskQueue: RELEASES_QUEUE, activities: createReleaseActivities(deps) },
  {
    taskQueue: FLOWS_QUEUE,
    activities: {
      ...createFlowActivities(deps, { runsCommands }),
      ...createWorkItemReportActivities(deps),
      ...createMockDriftActivities(deps),
      ...createVerificationActivities(deps),
    },
  },
  {
    taskQueue: COMMANDS_QUEUE,
    activities: createCommandActivities(deps),
    options: { ...QUICK_CANCELLATION, maxConcurrentActivityTaskExecutions: COMMANDS_AT_ONCE },
  },
];

/** What works on checkouts and mirrors of repositories. */
const codeQueues = (deps: Deps): TaskQueue[] => [
  {
    taskQueue: GIT_QUEUE,
    activities: {
      ...createGitActivities(deps),
      ...createBuildActivities(deps),
      ...createOperationActivities(deps, OPERATIONS),
      ...createPullRequestActivities(deps),
      ...createAnalysisResultActivities(deps),
    },
    options: { maxConcurrentActivityTaskExecutions: GIT_AT_ONCE },
  },
  {
    taskQueue: ANALYSIS_QUEUE,
    activities: createOperationActivities(deps, OPERATIONS),
    options: { ...QUICK_CANCELLATION, maxConcurrentActivityTaskExecutions: deps.analysis.atOnce },
  },
];
