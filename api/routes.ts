import { aiReportRefreshRoutes } from './insight/ai-reports/ai-report-refresh.routes.ts';
import { aiReportsRoutes } from './insight/ai-reports/ai-reports.routes.ts';
import { applicationTokensRoutes } from './identity/application-tokens/application-tokens.routes.ts';
import { approvalsRoutes } from './delivery/approvals/approvals.routes.ts';
import { attentionRoutes } from './people/attention/attention.routes.ts';
import { changesRoutes } from './people/changes/changes.routes.ts';
import { complianceRoutes } from './delivery/approvals/compliance.routes.ts';
import { auditRoutes } from './kernel/audit/audit.routes.ts';
import { auditExportsRoutes } from './kernel/audit/audit-exports.routes.ts';
import { auditInternalRoutes } from './kernel/audit/audit-internal.routes.ts';
import { downloadsRoutes } from './kernel/downloads/downloads.routes.ts';
import { authRoutes } from './identity/auth/auth.routes.ts';
import { liveLinksRoutes } from './review/browser-sessions/live-links.routes.ts';
import { livePageRoutes } from './review/browser-sessions/live-page.routes.ts';
import { browserReplaysRoutes } from './review/browser-sessions/replays.routes.ts';
import { buildRequestsRoutes } from './ci/builds/build-requests.routes.ts';
import { hooksRoutes } from './ci/builds/hooks.routes.ts';
import { browserConnectionsRoutes } from './review/browser-sessions/connections.routes.ts';
import { browserSessionsRoutes } from './review/browser-sessions/browser-sessions.routes.ts';
import { buildsRoutes } from './ci/builds/builds.routes.ts';
import { codeHostRoutes } from './identity/auth/code-host.routes.ts';
import { oidcRoutes } from './identity/auth/oidc.routes.ts';
import { signInPageRoutes } from './identity/auth/sign-in-page.routes.ts';
import { totpRoutes } from './identity/auth/totp.routes.ts';
import { bulkRoutes } from './documents/bulk.routes.ts';
import { collectionsRoutes } from './documents/collections.routes.ts';
import { documentQueriesRoutes } from './documents/document-queries.routes.ts';
import { chatInboundRoutes } from './people/chat/chat-inbound.routes.ts';
import { chatWorkspacesRoutes } from './people/chat/chat-workspaces.routes.ts';
import { crmOrgsRoutes } from './orgs/crm-orgs/crm-orgs.routes.ts';
import { orgCredentialsRoutes } from './orgs/crm-orgs/org-credentials.routes.ts';
import { orgOverviewRoutes } from './orgs/crm-orgs/org-overview.routes.ts';
import { documentsRoutes } from './documents/documents.routes.ts';
import { environmentLocksRoutes } from './delivery/environment-locks/environment-locks.routes.ts';
import { environmentsRoutes } from './projects/environments/environments.routes.ts';
import { invitationsRoutes } from './identity/invitations/invitations.routes.ts';
import { integrationsRoutes } from './projects/integrations/integrations.routes.ts';
import { flowCallbackRoutes } from './delivery/flows/flow-callback.routes.ts';
import { flowInternalRoutes } from './delivery/flows/flow-internal.routes.ts';
import { flowStartsRoutes } from './delivery/flows/flow-starts.routes.ts';
import { apexTestsRoutes } from './delivery/apex-tests/apex-tests.routes.ts';
import { flowRunsRoutes } from './delivery/flows/flow-runs.routes.ts';
import { flowSchedulesRoutes } from './delivery/flows/flow-schedules.routes.ts';
import { flowTypesRoutes } from './delivery/flows/flow-types.routes.ts';
import { codeAnalysisRoutes } from './insight/code-analysis/analysis.routes.ts';
import { codeAnalysisRefreshRoutes } from './insight/code-analysis/refresh.routes.ts';
import { codeAnalysisComparisonRoutes } from './insight/code-analysis/comparisons.routes.ts';
import { codeAnalysisResultsRoutes } from './insight/code-analysis/results.routes.ts';
import { gcChecksRoutes } from './orgs/gc-ledger/gc-checks.routes.ts';
import { gcDeletionsRoutes } from './orgs/gc-ledger/gc-deletions.routes.ts';
import { gcLedgerRoutes } from './orgs/gc-ledger/gc-ledger.routes.ts';
import type { AnyRoute } from './http/define-route.ts';
import { candidateChangesRoutes } from './delivery/release-candidates/candidate-changes.routes.ts';
import { holdsRoutes } from './delivery/release-candidates/holds.routes.ts';
import { verificationRoutes } from './delivery/release-candidates/verification.routes.ts';
import { comparisonRoutes } from './delivery/release-candidates/comparison.routes.ts';
import { candidateListRoutes } from './delivery/release-candidates/candidate-list.routes.ts';
import { releaseCandidatesRoutes } from './delivery/release-candidates/release-candidates.routes.ts';
import { changeSummaryRoutes } from './delivery/releases/change-summary.routes.ts';
import { timelinesRoutes } from './delivery/timelines/timelines.routes.ts';
import { matrixRoutes } from './delivery/releases/matrix.routes.ts';
import { policyBacktestRoutes } from './delivery/releases/policy-backtest.routes.ts';
import { metricsRoutes } from './delivery/releases/metrics.routes.ts';
import { releaseNotesRoutes } from './delivery/releases/release-notes.routes.ts';
import { releasesRoutes } from './delivery/releases/releases.routes.ts';
import { workItemPlacesRoutes } from './delivery/releases/work-items.routes.ts';
import { workItemsRoutes } from './work/work-items/work-items.routes.ts';
import { rollingAnalysisRoutes } from './delivery/release-candidates/rolling-analysis.routes.ts';
import { releaseEventRoutes } from './delivery/release-candidates/release-event.routes.ts';
import { orgMaintenanceRoutes } from './orgs/org-maintenance/org-maintenance.routes.ts';
import { orgLimitsRoutes } from './orgs/org-limits/org-limits.routes.ts';
import { metricQueriesRoutes } from './insight/metrics/metric-queries.routes.ts';
import { metricsRoutes as ingestedMetricsRoutes } from './insight/metrics/metrics.routes.ts';
import { mockCallsRoutes } from './mocks/mock-calls.routes.ts';
import { mockDocumentsRoutes } from './mocks/mock-documents.routes.ts';
import { mockWorkspacesRoutes } from './mocks/mock-workspaces.routes.ts';
import { mocksRoutes } from './mocks/mocks.routes.ts';
import { mirrorRoutes } from './code/git/mirror.routes.ts';
import { orgDriftRoutes } from './orgs/org-explorer/org-drift.routes.ts';
import { orgExplorerRoutes } from './orgs/org-explorer/org-explorer.routes.ts';
import { orgIngestRoutes } from './orgs/org-explorer/org-ingest.routes.ts';
import { passwordSetupRoutes } from './identity/passwords/password-setup.routes.ts';
import { passwordsRoutes } from './identity/passwords/passwords.routes.ts';
import { projectsRoutes } from './projects/projects/projects.routes.ts';
import { reviewAssignmentsRoutes } from './review/review-assignments/review-assignments.routes.ts';
import { reviewEnvRoutes } from './review/review-assignments/review-env.routes.ts';
import { reviewPoolsRoutes } from './review/review-pools/review-pools.routes.ts';
import { reviewInstancesRoutes } from './review/review-pools/review-instances.routes.ts';
import { reviewRulesRoutes } from './review/review-rules/review-rules.routes.ts';
import { userActivityRoutes } from './people/user-activity/user-activity.routes.ts';
import { usersRoutes } from './identity/users/users.routes.ts';
import { deliveriesRoutes } from './events/webhooks/deliveries.routes.ts';
import { withPayloadRoutes } from './work/work-item-requests/with-payload.routes.ts';
import { workItemRequestsRoutes } from './work/work-item-requests/work-item-requests.routes.ts';
import { webhookPreviewRoutes } from './events/webhooks/webhook-preview.routes.ts';
import { webhooksRoutes } from './events/webhooks/webhooks.routes.ts';

/** All routes of the service, from which the router, the reference and the contract tests are generated. */
export const routes: readonly AnyRoute[] = [
  ...authRoutes,
  ...signInPageRoutes,
  ...oidcRoutes,
  ...codeHostRoutes,
  ...totpRoutes,
  ...passwordSetupRoutes,
  ...userActivityRoutes,
  ...usersRoutes,
  ...passwordsRoutes,
  ...applicationTokensRoutes,
  ...integrationsRoutes,
  ...crmOrgsRoutes,
  ...orgCredentialsRoutes,
  ...orgMaintenanceRoutes,
  ...orgOverviewRoutes,
  ...invitationsRoutes,
  ...projectsRoutes,
  ...mirrorRoutes,
  ...environmentsRoutes,
  ...browserSessionsRoutes,
  ...browserConnectionsRoutes,
  ...environmentLocksRoutes,
  ...approvalsRoutes,
  ...complianceRoutes,
  ...releaseCandidatesRoutes,
  ...candidateListRoutes,
  ...candidateChangesRoutes,
  ...comparisonRoutes,
  ...holdsRoutes,
  ...policyBacktestRoutes,
  ...verificationRoutes,
  ...releaseEventRoutes,
  ...rollingAnalysisRoutes,
  ...releasesRoutes,
  ...matrixRoutes,
  ...timelinesRoutes,
  ...workItemPlacesRoutes,
  ...workItemsRoutes,
  ...metricsRoutes,
  ...releaseNotesRoutes,
  ...changeSummaryRoutes,
  ...browserReplaysRoutes,
  ...liveLinksRoutes,
  ...livePageRoutes,
  ...buildsRoutes,
  ...buildRequestsRoutes,
  ...hooksRoutes,
  ...flowStartsRoutes,
  ...flowRunsRoutes,
  ...apexTestsRoutes,
  ...flowTypesRoutes,
  ...flowSchedulesRoutes,
  ...flowInternalRoutes,
  ...flowCallbackRoutes,
  ...reviewRulesRoutes,
  ...reviewPoolsRoutes,
  ...reviewInstancesRoutes,
  ...reviewAssignmentsRoutes,
  ...reviewEnvRoutes,
  ...aiReportsRoutes,
  ...aiReportRefreshRoutes,
  ...gcLedgerRoutes,
  ...gcDeletionsRoutes,
  ...gcChecksRoutes,
  ...codeAnalysisRoutes,
  ...codeAnalysisResultsRoutes,
  ...codeAnalysisRefreshRoutes,
  ...codeAnalysisComparisonRoutes,
  ...orgLimitsRoutes,
  ...ingestedMetricsRoutes,
  ...metricQueriesRoutes,
  ...mocksRoutes,
  ...mockWorkspacesRoutes,
  ...mockDocumentsRoutes,
  ...mockCallsRoutes,
  ...auditRoutes,
  ...auditExportsRoutes,
  ...auditInternalRoutes,
  ...downloadsRoutes,
  ...attentionRoutes,
  ...changesRoutes,
  ...chatWorkspacesRoutes,
  ...chatInboundRoutes,
  ...webhooksRoutes,
  ...webhookPreviewRoutes,
  ...deliveriesRoutes,
  ...orgExplorerRoutes,
  ...orgDriftRoutes,
  ...orgIngestRoutes,
  ...collectionsRoutes,
  ...documentsRoutes,
  ...documentQueriesRoutes,
  ...bulkRoutes,
  ...workItemRequestsRoutes,
  ...withPayloadRoutes,
];
