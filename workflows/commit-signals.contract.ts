import type { TenantKey } from '../domain/kernel/shared/actor.ts';
import type { RunWorkflowKey } from '../domain/kernel/shared/workflow-path-rules.ts';
import type { SignalsByKind } from '../domain/kernel/signals.port.ts';
import { approvalContract, recheckSignal } from './delivery/approvals/approval.contract.ts';
import { browserSessionContract, sessionChangedSignal } from './review/browser-sessions/browser-session.contract.ts';
import { signalChatLane } from './people/chat/chat-lane.contract.ts';
import { flowRunContract, windowChangedSignal } from './delivery/flows/flow-run.contract.ts';
import { signalMirror } from './code/git/git-mirror.contract.ts';
import type { Launch } from './launch.ts';
import { applyEventsUpdate, releaseDomainContract } from './delivery/release-candidates/release-domain.contract.ts';
import { reportChangedSignal, workItemReportContract } from './work/work-item-requests/work-item-report.contract.ts';
import {
  assignmentChangedSignal,
  reviewAssignmentContract,
} from './review/review-assignments/review-assignment.contract.ts';
import { poolChangedSignal, reviewPoolContract } from './review/review-pools/review-pool.contract.ts';
import { verificationChangedSignal, verificationContract } from './delivery/verification/verification.contract.ts';
import { type FindLaneNames, signalLanes } from './events/webhooks/webhook-lane.contract.ts';

/** Signals to one workflow within this time are coalesced. */
const QUIET_MS = 20;
/** Signals to one pool: who waits is served in the transaction that frees an org, and the rest is not urgent. */
const POOL_QUIET_MS = 250;
/** What is not applied by then is found by the sweeper. */
const APPLIED_WITHIN_MS = 5_000;

/** The signals to workflows that follow the commit of a unit of work. */
export function createCommitSignals(launch: Launch, laneNames: FindLaneNames): SignalsByKind {
  const inBackground = launch.signalWithStartInBackground;
  return {
    webhook: signalLanes(launch, laneNames),
    chatWorkspace: each((tenant, workspaceId) => signalChatLane(launch, { ...tenant, workspaceId })),
    approval: each((tenant, key) => inBackground(approvalContract, { ...tenant, ...key }, recheckSignal, QUIET_MS)),
    deployment: each((tenant, { deploymentId, ...domain }) => {
      launch
        .updateWithStart(releaseDomainContract, { ...tenant, ...domain }, applyEventsUpdate, {
          args: [[deploymentId]],
          timeoutMs: APPLIED_WITHIN_MS,
        })
        .catch(() => undefined);
    }),
    acceptedRun: each((tenant, run) => launch.startInBackground(flowRunContract, { ...run, ...tenant })),
    run: (tenant, runs) => void signalRuns(launch, tenant, runs),
    // A workflow that is not reached finds out by itself that its run is gone.
    removedRun: each(
      (tenant, run) => void launch.cancel(flowRunContract, { ...tenant, ...run }).catch(() => undefined),
    ),
    verification: each((tenant, key) =>
      inBackground(verificationContract, { ...tenant, ...key }, verificationChangedSignal, QUIET_MS),
    ),
    mirror: each((tenant, key) => signalMirror(launch, { ...tenant, ...key })),
    workItemReport: each((tenant, key) =>
      inBackground(workItemReportContract, { ...tenant, ...key }, reportChangedSignal, QUIET_MS),
    ),
    reviewPool: each((tenant, key) =>
      inBackground(reviewPoolContract, { ...tenant, ...key }, poolChangedSignal, POOL_QUIET_MS),
    ),
    browserSession: each((tenant, key) =>
      inBackground(browserSessionContract, { ...tenant, ...key }, sessionChangedSignal, QUIET_MS),
    ),
    reviewAssignment: each((tenant, key) =>
      inBackground(reviewAssignmentContract, { ...tenant, ...key }, assignmentChangedSignal, QUIET_MS),
    ),
  };
}

/** @param signal its tenant is no more than the key: what else an actor has belongs into no input of a workflow. */
const each =
  <Key>(signal: (tenant: TenantKey, key: Key) => void) =>
  ({ tenantId, tenantSlug }: TenantKey, keys: readonly Key[]): void => {
    for (const key of keys) signal({ tenantId, tenantSlug }, key);
  };

/** One after another: a change of one environment may concern thousands. A run that misses its signal looks again later. */
async function signalRuns(
  launch: Launch,
  { tenantId, tenantSlug }: TenantKey,
  runs: readonly RunWorkflowKey[],
): Promise<void> {
  for (const run of runs)
    await launch.signal(flowRunContract, { tenantId, tenantSlug, ...run }, windowChangedSignal).catch(() => undefined);
}
