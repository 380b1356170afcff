import type { InferKyselyDB } from '@mikro-orm/postgresql';
import type { Kysely } from 'kysely';
import { AiReportSchema } from '../../insight/ai-reports/ai-reports.entities.ts';
import { ApplicationTokenSchema } from '../../identity/application-tokens/application-tokens.entities.ts';
import { ApprovalSchema, ApprovalEventSchema } from '../../delivery/approvals/approvals.entities.ts';
import { AuditEntrySchema, AuditExportSchema, AuditHeadSchema, AuditTallySchema } from '../audit/audit.entities.ts';
import {
  AuthSessionSchema,
  RefreshTokenSchema,
  KnownSignInSchema,
  SignInFailureSchema,
  UserRecoveryCodeSchema,
  UserTotpSchema,
} from '../../identity/auth/auth.entities.ts';
import { RateLimitSchema } from '../rate-limits/rate-limits.entities.ts';
import {
  BrowserHostSchema,
  BrowserLiveLinkSchema,
  BrowserReplayPageSchema,
  BrowserSessionEventSchema,
  BrowserSessionSchema,
} from '../../review/browser-sessions/browser-sessions.entities.ts';
import {
  BuildPreviewSchema,
  BuildStatusSchema,
  HookDeliverySchema,
  HookSecretSchema,
} from '../../ci/builds/builds.entities.ts';
import { ChatActionSchema, ChatMessageSchema, ChatWorkspaceSchema } from '../../people/chat/chat.entities.ts';
import { CodeAnalysisScheduleSchema } from '../../insight/code-analysis/analysis-schedules.entities.ts';
import {
  CodeAnalysisBodySchema,
  CodeAnalysisResultSchema,
  CodeAnalysisSchema,
} from '../../insight/code-analysis/code-analysis.entities.ts';
import { CrmOrgSchema, CrmTokenSchema } from '../../orgs/crm-orgs/crm-orgs.entities.ts';
import {
  OrgLimitHourSchema,
  OrgLimitSampleSchema,
  OrgLimitStateSchema,
} from '../../orgs/org-limits/org-limits.entities.ts';
import { ReleaseDeploymentSchema } from '../../delivery/deployments/deployments.entities.ts';
import { DocumentSchema, DocumentCollectionSchema, DocumentVersionSchema } from '../../documents/documents.entities.ts';
import { EnvironmentLockTicketSchema } from '../../delivery/environment-locks/environment-locks.entities.ts';
import { EnvironmentSchema } from '../../projects/environments/environments.entities.ts';
import {
  FlowCheckSchema,
  FlowRunSchema,
  FlowRunLockSchema,
  FlowRunTallySchema,
  FlowScheduleSchema,
  RunTokenSchema,
} from '../../delivery/flows/flows.entities.ts';
import {
  GcCheckSchema,
  GcEntrySchema,
  GcEventSchema,
  GcPresenceSchema,
  GcTallySchema,
} from '../../orgs/gc-ledger/gc-ledger.entities.ts';
import {
  GitCommitSchema,
  GitCommitPackageSchema,
  GitMirrorSchema,
  GitPackageSchema,
  GitRangeSchema,
  GitRefSchema,
} from '../../code/git/git.entities.ts';
import { IdempotencyKeySchema } from '../idempotency/idempotency.entities.ts';
import { IntegrationSchema } from '../../projects/integrations/integrations.entities.ts';
import { AiBudgetMonthSchema, AiCallSchema } from '../../insight/language-models/language-models.entities.ts';
import {
  InvitationSchema,
  InvitedMembershipSchema,
  InvitedUserSchema,
} from '../../identity/invitations/invitations.entities.ts';
import {
  OrgComponentChangeSchema,
  OrgComponentFileSchema,
  OrgComponentSchema,
  OrgComponentTypeSchema,
  OrgContentSchema,
  OrgSyncSchema,
} from '../../orgs/org-explorer/org-explorer.entities.ts';
import {
  AiUsageDaySchema,
  MetricSeriesDaySchema,
  MetricSeriesSchema,
  MetricWindowSchema,
} from '../../insight/metrics/metrics.entities.ts';
import {
  MockCallSchema,
  MockDriftSchema,
  MockRunSchema,
  MockScenarioSchema,
  MockStepSchema,
  MockWorkspaceSchema,
} from '../../mocks/mocks.entities.ts';
import { ProjectSchema } from '../../projects/projects/projects.entities.ts';
import { PullRequestRefreshSchema, PullRequestSchema } from '../../code/pull-requests/pull-requests.entities.ts';
import {
  ReleaseCandidateSchema,
  ReleaseCandidateCountSchema,
} from '../../delivery/release-candidates/release-candidates.entities.ts';
import { PackageVersionSchema } from '../../delivery/releases/releases.entities.ts';
import { SweepFailureSchema } from '../system/system.entities.ts';
import { ReviewAssignmentSchema } from '../../review/review-assignments/review-assignments.entities.ts';
import { ReviewInstanceSchema, ReviewPoolSchema } from '../../review/review-pools/review-pools.entities.ts';
import { ReviewRuleSchema } from '../../review/review-rules/review-rules.entities.ts';
import { TenantSchema } from '../tenants/tenants.entities.ts';
import {
  MembershipSchema,
  TeamSchema,
  TenantUserSchema,
  UserAccountSchema,
  UserAliasSchema,
  UserIdentitySchema,
  UserProfileSchema,
} from '../../identity/users/users.entities.ts';
import {
  WebhookSchema,
  WebhookAttemptSchema,
  WebhookDeliverySchema,
  WebhookSubscriptionSchema,
} from '../../events/webhooks/webhooks.entities.ts';
import {
  WorkItemRequestCountSchema,
  WorkItemRequestExecutionSchema,
  WorkItemRequestSchema,
  WorkItemRequestTallySchema,
} from '../../work/work-item-requests/work-item-requests.entities.ts';
import type { Cell } from './columns.ts';

/** Every table of the schema. */
export const entities = [
  AiReportSchema,
  AiBudgetMonthSchema,
  AiCallSchema,
  ApplicationTokenSchema,
  ApprovalSchema,
  ApprovalEventSchema,
  AuditEntrySchema,
  AuditExportSchema,
  AuditHeadSchema,
  AuditTallySchema,
  AuthSessionSchema,
  RefreshTokenSchema,
  KnownSignInSchema,
  RateLimitSchema,
  SignInFailureSchema,
  UserRecoveryCodeSchema,
  UserTotpSchema,
  BrowserHostSchema,
  BrowserLiveLinkSchema,
  BrowserReplayPageSchema,
  BrowserSessionSchema,
  BrowserSessionEventSchema,
  BuildPreviewSchema,
  BuildStatusSchema,
  HookDeliverySchema,
  HookSecretSchema,
  CodeAnalysisSchema,
  CodeAnalysisBodySchema,
  CodeAnalysisResultSchema,
  CodeAnalysisScheduleSchema,
  ChatActionSchema,
  ChatMessageSchema,
  ChatWorkspaceSchema,
  CrmOrgSchema,
  CrmTokenSchema,
  OrgLimitHourSchema,
  OrgLimitSampleSchema,
  OrgLimitStateSchema,
  AiUsageDaySchema,
  MetricSeriesDaySchema,
  MetricSeriesSchema,
  MetricWindowSchema,
  ReleaseDeploymentSchema,
  DocumentSchema,
  DocumentCollectionSchema,
  DocumentVersionSchema,
  EnvironmentLockTicketSchema,
  EnvironmentSchema,
  FlowCheckSchema,
  FlowRunSchema,
  FlowRunLockSchema,
  FlowRunTallySchema,
  FlowScheduleSchema,
  GcCheckSchema,
  GcEntrySchema,
  GcEventSchema,
  GcPresenceSchema,
  GcTallySchema,
  GitCommitSchema,
  GitCommitPackageSchema,
  GitMirrorSchema,
  GitPackageSchema,
  GitRangeSchema,
  GitRefSchema,
  IdempotencyKeySchema,
  IntegrationSchema,
  InvitationSchema,
  InvitedMembershipSchema,
  InvitedUserSchema,
  MockCallSchema,
  MockDriftSchema,
  MockRunSchema,
  MockScenarioSchema,
  MockStepSchema,
  MockWorkspaceSchema,
  OrgComponentChangeSchema,
  OrgComponentFileSchema,
  OrgComponentSchema,
  OrgComponentTypeSchema,
  OrgContentSchema,
  OrgSyncSchema,
  ProjectSchema,
  PullRequestSchema,
  PullRequestRefreshSchema,
  ReleaseCandidateSchema,
  ReleaseCandidateCountSchema,
  PackageVersionSchema,
  ReviewAssignmentSchema,
  ReviewInstanceSchema,
  ReviewPoolSchema,
  ReviewRuleSchema,
  RunTokenSchema,
  SweepFailureSchema,
  TenantSchema,
  MembershipSchema,
  TeamSchema,
  TenantUserSchema,
  UserAccountSchema,
  UserAliasSchema,
  UserIdentitySchema,
  UserProfileSchema,
  WebhookSchema,
  WebhookSubscriptionSchema,
  WebhookAttemptSchema,
  WebhookDeliverySchema,
  WorkItemRequestCountSchema,
  WorkItemRequestExecutionSchema,
  WorkItemRequestSchema,
  WorkItemRequestTallySchema,
] as const;

type Inferred = InferKyselyDB<
  (typeof entities)[number],
  { tableNamingStrategy: 'table'; columnNamingStrategy: 'property' }
>;
/** Tables by their name, columns by the entity's property. */
export type Tables = { [T in keyof Inferred]: { [C in keyof Inferred[T]]: Cell<Inferred[T][C]> } };

/** What statements are built on and run by: a transaction, or connections that may write. */
export type Database = Kysely<Tables>;
/**
 * The reading part of it, which both a transaction and fenced reads offer. (Kysely's `ReadonlyKysely` declares what it
 * lacks with other types, so that a `Kysely` does not pass for one.)
 */
export type ReadDatabase = Pick<
  Database,
  'selectFrom' | 'selectNoFrom' | 'with' | 'withRecursive' | 'fn' | 'case' | 'executeQuery' | 'getExecutor'
>;
