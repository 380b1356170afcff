import { aiReportsSweep } from '../../insight/ai-reports/ai-reports.sweep.ts';
import { expiringTokensSweep } from '../../identity/application-tokens/application-tokens.sweep.ts';
import { approvalsSweep } from '../../delivery/approvals/approvals.sweep.ts';
import { auditExportsSweep, expiredExportsSweep } from '../audit/audit-exports.sweep.ts';
import {
  agedRecordingsSweep,
  browserSessionsSweep,
  silentHostsChore,
  strayBrowsersSweep,
} from '../../review/browser-sessions/browser-sessions.sweep.ts';
import { buildImpactsSweep } from '../../ci/builds/build-impacts.sweep.ts';
import { chatLanesSweep } from '../../people/chat/chat-lanes.sweep.ts';
import { expiringOrgsSweep } from '../../orgs/crm-orgs/expiring-orgs.sweep.ts';
import { environmentLocksSweep, lockTicketsSweep } from '../../delivery/environment-locks/environment-locks.sweep.ts';
import {
  flowChecksSweep,
  flowRunsSweep,
  flowSchedulesSweep,
  lostSchedulesChore,
  runCountsChore,
} from '../../delivery/flows/flows.sweep.ts';
import { gcChecksSweep } from '../../orgs/gc-ledger/gc-checks.sweep.ts';
import { mockDriftsSweep } from '../../mocks/mock-drifts.sweep.ts';
import { mirrorsSweep } from '../../code/git/mirrors.sweep.ts';
import { analysisLogsSweep, analysisResultsSweep } from '../../insight/code-analysis/analysis-results.sweep.ts';
import { pullRequestsSweep } from '../../code/pull-requests/pull-requests.sweep.ts';
import { releaseEventsSweep } from '../../delivery/release-candidates/release-events.sweep.ts';
import { expiredMetricsChore, metricsLaneSweep } from '../../insight/metrics/metrics.sweep.ts';
import { expiredScenariosSweep, mockCallsChore } from '../../mocks/mocks.sweep.ts';
import { expiredLimitSamplesChore, orgLimitsSweep } from '../../orgs/org-limits/org-limits.sweep.ts';
import { reviewAssignmentsSweep, reviewPoolsSweep } from '../../review/review-assignments/reviews.sweep.ts';
import { failedWebhooksSweep, webhookLanesSweep } from '../../events/webhooks/webhook-lanes.sweep.ts';
import { orgSyncsSweep, unusedContentsSweep, orgHistoryChore } from '../../orgs/org-explorer/org-explorer.sweep.ts';
import {
  unconfirmedRequestsSweep,
  workItemReportsSweep,
} from '../../work/work-item-requests/work-item-requests.sweep.ts';
import type { Sweep } from './define-sweep.ts';
import { PURGES } from './purges.sweep.ts';

/** Every kind of accepted work that a crash or an absent engine can leave undone, and of rows that expire. */
export const SWEEPS: readonly Sweep[] = [
  releaseEventsSweep(),
  auditExportsSweep,
  expiredExportsSweep,
  approvalsSweep(),
  lockTicketsSweep,
  environmentLocksSweep,
  flowRunsSweep,
  runCountsChore,
  flowSchedulesSweep,
  lostSchedulesChore,
  flowChecksSweep,
  unconfirmedRequestsSweep,
  workItemReportsSweep,
  mirrorsSweep,
  pullRequestsSweep,
  analysisResultsSweep,
  analysisLogsSweep,
  buildImpactsSweep,
  gcChecksSweep,
  mockDriftsSweep,
  aiReportsSweep,
  reviewAssignmentsSweep(),
  reviewPoolsSweep,
  browserSessionsSweep(),
  strayBrowsersSweep,
  agedRecordingsSweep,
  silentHostsChore,
  expiringTokensSweep,
  expiringOrgsSweep,
  orgLimitsSweep,
  expiredLimitSamplesChore,
  metricsLaneSweep,
  expiredMetricsChore,
  expiredScenariosSweep,
  mockCallsChore,
  webhookLanesSweep,
  chatLanesSweep,
  failedWebhooksSweep,
  orgSyncsSweep,
  unusedContentsSweep,
  orgHistoryChore,
  ...PURGES,
];
