import type { TenantKey } from '../domain/kernel/shared/actor.ts';
import type { CommitSignals, WaitingRun } from '../domain/unit-of-work.ts';
import { approvalContract, recheckSignal } from './delivery/approvals/approval.contract.ts';
import { browserSessionContract, sessionChangedSignal } from './review/browser-sessions/browser-session.contract.ts';
import { signalChatLane } from './people/chat/chat-lane.contract.ts';
import { flowRunContract, windowChangedSignal } from './delivery/flows/flow-run.contract.ts';
import type { Launch } from './launch.ts';
import { applyEventsUpdate, releaseDomainContract } from './delivery/release-candidates/release-domain.contract.ts';
import { reportChangedSignal, workItemReportContract } from './work/work-item-requests/work-item-report.contract.ts';
import {
  assignmentChangedSignal,
  reviewAssignmentContract,
} from './review/review-assignments/review-assignment.contract.ts';
import { poolChangedSignal, reviewPoolContract } from './review/review-pools/review-pool.contract.ts';
import { type FindLaneNames, signalLanes } from './events/webhooks/webhook-lane.contract.ts';

/** Signals to one approval or work item within this time are coalesced. */
const QUIET_MS = 20;
/** Signals to one pool: who waits is served in the transaction that frees an org, and the rest is not urgent. */
const POOL_QUIET_MS = 250;
/** What is not applied by then is found by the sweeper. */
const APPLIED_WITHIN_MS = 5_000;

/** The signals to workflows that follow the commit of a unit of work. */
export const createCommitSignals = (launch: Launch, laneNames: FindLaneNames): Omit<CommitSignals, 'happened'> => ({
  lanes: signalLanes(launch, laneNames),
  chats({ tenantId, tenantSlug }, workspaceIds) {
    for (const workspaceId of workspaceIds) signalChatLane(launch, { tenantId, tenantSlug, workspaceId });
  },
  approvals({ tenantId, tenantSlug }, approvals) {
    for (const approval of approvals)
      launch.signalWithStartInBackground(
        approvalContract,
        { tenantId, tenantSlug, ...approval },
        recheckSignal,
        QUIET_MS,
      );
  },
  deployments({ tenantId, tenantSlug }, deployments) {
    for (const { deploymentId, ...domain } of deployments)
      launch
        .updateWithStart(releaseDomainContract, { tenantId, tenantSlug, ...domain }, applyEventsUpdate, {
          args: [[deploymentId]],
          timeoutMs: APPLIED_WITHIN_MS,
        })
        .catch(() => undefined);
  },
  runs: (tenant, runs) => void signalRuns(launch, tenant, runs),
  reports({ tenantId, tenantSlug }, requestIds) {
    for (const requestId of requestIds)
      launch.signalWithStartInBackground(
        workItemReportContract,
        { tenantId, tenantSlug, requestId },
        reportChangedSignal,
        QUIET_MS,
      );
  },
  reviewPools({ tenantId, tenantSlug }, pools) {
    for (const pool of pools)
      launch.signalWithStartInBackground(
        reviewPoolContract,
        { tenantId, tenantSlug, ...pool },
        poolChangedSignal,
        POOL_QUIET_MS,
      );
  },
  browserSessions({ tenantId, tenantSlug }, sessions) {
    for (const session of sessions)
      launch.signalWithStartInBackground(
        browserSessionContract,
        { tenantId, tenantSlug, ...session },
        sessionChangedSignal,
        QUIET_MS,
      );
  },
  reviewAssignments({ tenantId, tenantSlug }, assignments) {
    for (const assignment of assignments)
      launch.signalWithStartInBackground(
        reviewAssignmentContract,
        { tenantId, tenantSlug, ...assignment },
        assignmentChangedSignal,
        QUIET_MS,
      );
  },
});

/** One after another: a change of one environment may concern thousands. A run that misses its signal looks again later. */
async function signalRuns(
  launch: Launch,
  { tenantId, tenantSlug }: TenantKey,
  runs: readonly WaitingRun[],
): Promise<void> {
  for (const run of runs)
    await launch.signal(flowRunContract, { tenantId, tenantSlug, ...run }, windowChangedSignal).catch(() => undefined);
}
