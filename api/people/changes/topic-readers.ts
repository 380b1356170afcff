import type { Change } from '../../../domain/kernel/changes/change-rules.ts';
import { type Topic, TOPICS } from '../../../domain/kernel/changes/topic-rules.ts';
import { reachesCollection } from '../../../domain/kernel/shared/collection-limit-rules.ts';
import type { PresentActor } from '../../../domain/identity/auth/present-actors.queries.ts';
import { readAttentionId } from '../../../domain/people/attention/attention.queries.ts';
import { ATTENTION } from '../../../domain/areas.ts';
import type { AttentionActions } from '../attention/attention-actions.ts';
import type { AnyRoute } from '../../http/define-route.ts';

/** By topic, the operation that shows what changed: whoever may call it is told. */
export const READ_BY: Record<Topic, string> = {
  ai_report: 'listAiReports',
  application_token: 'listApplicationTokens',
  approval: 'listApprovals',
  attention_item: 'listAttention',
  audit_export: 'getAuditExport',
  browser_session: 'listBrowserSessions',
  build: 'listBuilds',
  build_preview: 'previewBuild',
  chat_workspace: 'listChatWorkspaces',
  code_analysis: 'listCodeAnalyses',
  crm_org: 'listOrgs',
  document: 'listDocuments',
  document_collection: 'listCollections',
  encryption_key: 'listAuditEntries',
  environment: 'listEnvironments',
  environment_lock: 'getEnvironmentLockQueue',
  flow_output: 'getFlowRunOutput',
  flow_run: 'listFlowRuns',
  flow_schedule: 'listFlowSchedules',
  gc_check: 'getGcCheck',
  gc_entry: 'listGcEntries',
  gc_ledger: 'listGcEntries',
  git_mirror: 'getProjectMirror',
  integration: 'listIntegrations',
  mock_call: 'listMockCalls',
  mock_scenario: 'listMockScenarios',
  mock_workspace: 'listMockScenarios',
  org_limit: 'getOrgLimitSummary',
  org_sync: 'getOrgMetadata',
  project: 'listProjects',
  release_candidate: 'listReleaseCandidates',
  release_deployment: 'listReleases',
  review_assignment: 'listReviewAssignments',
  review_instance: 'listReviewInstances',
  review_pool: 'listReviewPools',
  review_rule: 'listReviewRules',
  session: 'listAuditEntries',
  tenant: 'listAuditEntries',
  user: 'listUsers',
  webhook: 'listWebhooks',
  webhook_delivery: 'listWebhookDeliveries',
  webhook_event: 'listAuditEntries',
  work_item: 'listWorkItems',
  work_item_request: 'listWorkItemRequests',
};

/** What of its tenant's changes somebody is told of. */
export interface ToldOf {
  isTold: (change: Change) => boolean;
  /** Whether that is all of them. */
  isToldOfAll: boolean;
}

/** Who is told of what. */
export type TopicAccess = (present: PresentActor) => ToldOf;

/**
 * Follows the roles and the project scope of the operations in `READ_BY`. A caller that is limited to projects is told of
 * what names one of its repositories, and of collections that it reaches; of what names no repository, only where the
 * operation shows it all. Throws for an operation that there is not.
 */
export function topicAccess(
  routes: readonly AnyRoute[],
  { rulesFor }: Pick<AttentionActions, 'rulesFor'>,
): TopicAccess {
  const routeOf = new Map(routes.map((route) => [route.operationId, route]));
  const readers = new Map(
    TOPICS.map((topic) => {
      const route = routeOf.get(READ_BY[topic]);
      if (!route || route.roles === 'public') throw new Error(`No operation ${READ_BY[topic]} shows ${topic}`);
      return [topic, { roles: route.roles, scope: route.projectScope }];
    }),
  );
  return ({ actor, repositories }) => {
    // Each kind is shown by an operation of its own.
    const kinds = new Set<string>(rulesFor(actor, ATTENTION).map(({ kind }) => kind));
    return {
      isTold: ({ topic, id, repositoryIdentifier }) => {
        const reader = readers.get(topic);
        if (!reader?.roles.includes(actor.role)) return false;
        if (topic === 'attention_item' && id !== null && !kinds.has(readAttentionId(id)?.kind ?? '')) return false;
        if (!repositories || reader.scope === 'none') return true;
        // Names of collections and keys both have slashes: which is which shows in the id of a collection alone.
        if (topic === 'document_collection') return id !== null && reachesCollection(actor, id);
        return reader.scope === 'row' && repositoryIdentifier !== null && repositories.has(repositoryIdentifier);
      },
      isToldOfAll: !repositories && [...readers.values()].every(({ roles }) => roles.includes(actor.role)),
    };
  };
}
