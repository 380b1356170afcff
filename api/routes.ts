import { aiReportRefreshRoutes } from './ai-reports/ai-report-refresh.routes.ts';
import { aiReportsRoutes } from './ai-reports/ai-reports.routes.ts';
import { applicationTokensRoutes } from './application-tokens/application-tokens.routes.ts';
import { approvalsRoutes } from './approvals/approvals.routes.ts';
import { complianceRoutes } from './approvals/compliance.routes.ts';
import { auditRoutes } from './audit/audit.routes.ts';
import { auditExportsRoutes } from './audit/audit-exports.routes.ts';
import { auditInternalRoutes } from './audit/audit-internal.routes.ts';
import { downloadsRoutes } from './downloads/downloads.routes.ts';
import { authRoutes } from './auth/auth.routes.ts';
import { liveLinksRoutes } from './browser-sessions/live-links.routes.ts';
import { livePageRoutes } from './browser-sessions/live-page.routes.ts';
import { browserReplaysRoutes } from './browser-sessions/replays.routes.ts';
import { buildRequestsRoutes } from './builds/build-requests.routes.ts';
import { hooksRoutes } from './builds/hooks.routes.ts';
import { browserConnectionsRoutes } from './browser-sessions/connections.routes.ts';
import { browserSessionsRoutes } from './browser-sessions/browser-sessions.routes.ts';
import { buildsRoutes } from './builds/builds.routes.ts';
import { codeHostRoutes } from './auth/code-host.routes.ts';
import { oidcRoutes } from './auth/oidc.routes.ts';
import { signInPageRoutes } from './auth/sign-in-page.routes.ts';
import { totpRoutes } from './auth/totp.routes.ts';
import { bulkRoutes } from './documents/bulk.routes.ts';
import { collectionsRoutes } from './documents/collections.routes.ts';
import { documentQueriesRoutes } from './documents/document-queries.routes.ts';
import { chatInboundRoutes } from './chat/chat-inbound.routes.ts';
import { chatWorkspacesRoutes } from './chat/chat-workspaces.routes.ts';
import { crmOrgsRoutes } from './crm-orgs/crm-orgs.routes.ts';
import { orgCredentialsRoutes } from './crm-orgs/org-credentials.routes.ts';
import { orgOverviewRoutes } from './crm-orgs/org-overview.routes.ts';
import { documentsRoutes } from './documents/documents.routes.ts';
import { environmentLocksRoutes } from './environment-locks/environment-locks.routes.ts';
import { environmentsRoutes } from './environments/environments.routes.ts';
import { invitationsRoutes } from './invitations/invitations.routes.ts';
import { integrationsRoutes } from './integrations/integrations.routes.ts';
import { flowCallbackRoutes } from './flows/flow-callback.routes.ts';
import { flowInternalRoutes } from './flows/flow-internal.routes.ts';
import { flowRunsRoutes } from './flows/flow-runs.routes.ts';
import { flowSchedulesRoutes } from './flows/flow-schedules.routes.ts';
import { flowTypesRoutes } from './flows/flow-types.routes.ts';
import { codeAnalysisRoutes } from './code-analysis/analysis.routes.ts';
import { codeAnalysisRefreshRoutes } from './code-analysis/refresh.routes.ts';
import { codeAnalysisComparisonRoutes } from './code-analysis/comparisons.routes.ts';
import { codeAnalysisResultsRoutes } from './code-analysis/results.routes.ts';
import { gcChecksRoutes } from './gc-ledger/gc-checks.routes.ts';
import { gcDeletionsRoutes } from './gc-ledger/gc-deletions.routes.ts';
import { gcLedgerRoutes } from './gc-ledger/gc-ledger.routes.ts';
import type { AnyRoute } from './http/define-route.ts';
import { candidateChangesRoutes } from './release-candidates/candidate-changes.routes.ts';
import { comparisonRoutes } from './release-candidates/comparison.routes.ts';
import { releaseCandidatesRoutes } from './release-candidates/release-candidates.routes.ts';
import { changeSummaryRoutes } from './releases/change-summary.routes.ts';
import { metricsRoutes } from './releases/metrics.routes.ts';
import { releaseNotesRoutes } from './releases/release-notes.routes.ts';
import { releasesRoutes } from './releases/releases.routes.ts';
import { workItemPlacesRoutes } from './releases/work-items.routes.ts';
import { workItemsRoutes } from './work-items/work-items.routes.ts';
import { rollingAnalysisRoutes } from './release-candidates/rolling-analysis.routes.ts';
import { releaseEventRoutes } from './release-candidates/release-event.routes.ts';
import { orgLimitsRoutes } from './org-limits/org-limits.routes.ts';
import { metricQueriesRoutes } from './metrics/metric-queries.routes.ts';
import { metricsRoutes as ingestedMetricsRoutes } from './metrics/metrics.routes.ts';
import { mockCallsRoutes } from './mocks/mock-calls.routes.ts';
import { mockDocumentsRoutes } from './mocks/mock-documents.routes.ts';
import { mocksRoutes } from './mocks/mocks.routes.ts';
import { mirrorRoutes } from './projects/mirror.routes.ts';
import { orgDriftRoutes } from './org-explorer/org-drift.routes.ts';
import { orgExplorerRoutes } from './org-explorer/org-explorer.routes.ts';
import { orgIngestRoutes } from './org-explorer/org-ingest.routes.ts';
import { passwordSetupRoutes } from './passwords/password-setup.routes.ts';
import { passwordsRoutes } from './passwords/passwords.routes.ts';
import { projectsRoutes } from './projects/projects.routes.ts';
import { reviewAssignmentsRoutes } from './review-assignments/review-assignments.routes.ts';
import { reviewEnvRoutes } from './review-assignments/review-env.routes.ts';
import { reviewPoolsRoutes } from './review-pools/review-pools.routes.ts';
import { reviewInstancesRoutes } from './review-pools/review-instances.routes.ts';
import { reviewRulesRoutes } from './review-rules/review-rules.routes.ts';
import { userActivityRoutes } from './user-activity/user-activity.routes.ts';
import { usersRoutes } from './users/users.routes.ts';
import { deliveriesRoutes } from './webhooks/deliveries.routes.ts';
import { withPayloadRoutes } from './work-item-requests/with-payload.routes.ts';
import { workItemRequestsRoutes } from './work-item-requests/work-item-requests.routes.ts';
import { webhooksRoutes } from './webhooks/webhooks.routes.ts';

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
  ...candidateChangesRoutes,
  ...comparisonRoutes,
  ...releaseEventRoutes,
  ...rollingAnalysisRoutes,
  ...releasesRoutes,
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
  ...flowRunsRoutes,
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
  ...mockDocumentsRoutes,
  ...mockCallsRoutes,
  ...auditRoutes,
  ...auditExportsRoutes,
  ...auditInternalRoutes,
  ...downloadsRoutes,
  ...chatWorkspacesRoutes,
  ...chatInboundRoutes,
  ...webhooksRoutes,
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
