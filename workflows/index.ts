export { housekeeping, sweep } from './system/sweep.workflow.ts';
export { webhookLane } from './webhooks/webhook-lane.workflow.ts';
export { approval } from './approvals/approval.workflow.ts';
export { environmentLock } from './environment-locks/environment-lock.workflow.ts';
export { releaseDomain } from './release-candidates/release-domain.workflow.ts';
export { flowRun } from './flows/flow-run.workflow.ts';
export { scheduledFlow } from './flows/scheduled-flow.workflow.ts';
export { flowChecks } from './flows/flow-checks.workflow.ts';
export { gitMirror } from './git/git-mirror.workflow.ts';
