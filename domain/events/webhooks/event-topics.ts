import type { Change } from '../../kernel/changes/change-rules.ts';
import type { Topic } from '../../kernel/changes/topic-rules.ts';
import type { Announcement } from './enqueue.queries.ts';
import type { EventName } from './event-catalog.ts';

type Group<Name extends string> = Name extends `${infer Of}.${string}` ? Of : never;

/** By the group of an event: what it says has changed, and which member of its data has the id; null: none has. */
const TOPIC_OF: Record<Group<EventName>, readonly [topic: Topic, idMember: string | null]> = {
  ai_budget: ['ai_report', null],
  ai_report: ['ai_report', 'id'],
  application_token: ['application_token', 'id'],
  approval: ['approval', 'id'],
  audit_export: ['audit_export', 'id'],
  browser_session: ['browser_session', 'sessionId'],
  build: ['build', null],
  chat_workspace: ['chat_workspace', 'workspaceId'],
  code_analysis: ['code_analysis', null],
  deployment: ['release_deployment', null],
  document: ['document', null],
  environment: ['environment_lock', 'environmentId'],
  flow: ['flow_run', 'id'],
  gc: ['gc_ledger', null],
  metrics_series: ['tenant', null],
  mock_scenario: ['mock_scenario', null],
  org: ['crm_org', null],
  org_explorer: ['org_sync', 'jobId'],
  org_limit: ['org_limit', null],
  privileges: ['flow_run', 'executionId'],
  project: ['project', 'id'],
  promotion: ['flow_run', 'executionId'],
  release: ['release_candidate', 'candidateId'],
  release_candidate: ['release_candidate', 'id'],
  review_environment: ['review_assignment', 'assignmentId'],
  review_pool: ['review_pool', 'poolId'],
  user: ['user', 'id'],
  webhook: ['webhook', 'id'],
  work_item_request: ['work_item_request', 'id'],
};

const textOr = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** What an event says has changed; undefined for one that is not in the catalog. */
export function changeOf({ event, data }: Announcement): Change | undefined {
  const [topic, idMember] =
    (TOPIC_OF as Record<string, readonly [Topic, string | null]>)[event.split('.')[0] ?? ''] ?? [];
  if (topic === undefined) return undefined;
  const members = data as Record<string, unknown>;
  return {
    topic,
    id: idMember ? textOr(members[idMember]) : null,
    repositoryIdentifier: textOr(members.repositoryIdentifier),
  };
}

/** Something changed among the deliveries of a webhook, which is named: they come by the hundred. */
export const deliveriesOf = (webhookId: string): Change => ({
  topic: 'webhook_delivery',
  id: webhookId,
  repositoryIdentifier: null,
});
