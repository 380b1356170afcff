import type { ReaderLink } from './reader-link-rules.ts';

/** What messages about a family of events show. Members are paths of the event's data. */
export interface EventFamily {
  /** What the event is about, in a few words: members, joined. */
  subject: readonly string[];
  facts: Readonly<Record<string, string>>;
  /** Where the message may lead: to the first of these whose members the data all has. */
  links?: readonly ReaderLink[];
}

const PLACE = { Repository: 'repositoryIdentifier', Domain: 'domain' };
const WHERE = { ...PLACE, Release: 'releaseName', Environment: 'environmentName' };
const call = (group: string, operationId: string, path: string): ReaderLink => ({ group, operationId, call: path });

const consolePage = (path: string): ReaderLink => ({ page: `/console${path}` });

const NOTES_OF = '/api/releases/{releaseName}/notes?repositoryIdentifier={repositoryIdentifier}&domain={domain}';
/** The changes of a release, against what its environment ran before. */
const NOTES: readonly ReaderLink[] = ['&environmentName={environmentName}', ''].map((more) => ({
  page: `${NOTES_OF}${more}&format=html`,
  label: 'Release notes',
}));

/** Where an approval leads its reader: to what it is about, otherwise to where it is decided. */
export const LINKS_OF_APPROVAL: readonly ReaderLink[] = [
  ...NOTES,
  consolePage('/inbox?project={repositoryIdentifier}'),
  consolePage('/inbox'),
];

const RELEASE: EventFamily = {
  subject: ['releaseName', 'environmentName'],
  facts: { ...WHERE, Branch: 'branch', Reason: 'reason', Until: 'until', By: 'by' },
  links: NOTES,
};
const ORG: EventFamily = {
  subject: ['orgUsername'],
  facts: { Org: 'orgUsername', Type: 'orgType', Error: 'error', Expires: 'expiresAt' },
  links: [call('CRM orgs', 'getOrg', '/api/auth/crm/org?username={orgUsername}&authType=none')],
};

/** One renderer for each family: what stands before the first dot of an event's name. */
export const EVENT_FAMILIES: Readonly<Record<string, EventFamily>> = {
  release: RELEASE,
  deployment: {
    ...RELEASE,
    facts: { ...WHERE, Status: 'status', Check: 'verification.detail', By: 'deployedBy' },
  },
  release_candidate: {
    subject: ['releaseName'],
    facts: {
      ...PLACE,
      Branch: 'branch',
      Status: 'status',
      Before: 'previousStatus',
      Reason: 'reason',
      By: 'changedBy',
    },
    links: [consolePage('/candidates/{id}')],
  },
  promotion: {
    subject: ['releaseName', 'environmentName'],
    facts: { ...PLACE, Run: 'taskType', Reason: 'reason', By: 'by' },
    links: [consolePage('/runs/{executionId}')],
  },
  privileges: { ...ORG, facts: { ...ORG.facts, People: 'usernames', 'Permission sets': 'permissionSets' } },
  browser_session: {
    subject: ['repositoryIdentifier', 'prNumber', 'environmentName'],
    facts: {
      Repository: 'repositoryIdentifier',
      'Pull request': 'prNumber',
      Environment: 'environmentName',
      Org: 'orgUsername',
      Status: 'status',
      Reason: 'statusReason',
      Recording: 'recording',
      Expires: 'expiresAt',
      'Started by': 'startedBy',
    },
    links: [{ page: '/browser-sessions/{sessionId}/live', label: 'The live page' }],
  },
  mock_scenario: {
    subject: ['name', 'workspace'],
    facts: {
      Workspace: 'workspace',
      Scenario: 'name',
      Mode: 'mode',
      Method: 'method',
      Path: 'path',
      Reason: 'reason',
      'Armed until': 'armedUntil',
      By: 'armedBy',
    },
    links: [call('Mock scenarios', 'getMockScenario', '/api/mocks/workspaces/{workspace}/scenarios/{name}')],
  },
  build: {
    subject: ['branch'],
    facts: {
      Repository: 'repositoryIdentifier',
      Branch: 'branch',
      Commit: 'commitSha',
      Build: 'buildNumber',
      Error: 'error',
    },
    links: [{ member: 'buildUrl', label: 'The build' }],
  },
  flow: {
    subject: ['taskType', 'environmentName'],
    facts: {
      Repository: 'repositoryIdentifier',
      Environment: 'environmentName',
      Step: 'step',
      'Done, %': 'percent',
      'Started by': 'startedBy',
      Reason: 'reason',
      Error: 'error',
    },
    links: [consolePage('/runs/{id}')],
  },
  /** Without buttons: what they decide on is for the row to say, see `approvalMessage`. */
  approval: {
    subject: ['taskType', 'releaseName', 'environmentName'],
    facts: {
      ...PLACE,
      Release: 'releaseName',
      Environment: 'environmentName',
      Status: 'status',
      'Requested by': 'requestedBy',
      'Decided by': 'resolvedBy',
      Comment: 'comment',
    },
    links: LINKS_OF_APPROVAL,
  },
  environment: {
    subject: ['environmentName'],
    facts: { Repository: 'repositoryIdentifier', Holder: 'holder', Reason: 'reason', Expires: 'expiresAt' },
    links: [consolePage('/environments/{environmentId}')],
  },
  review_environment: {
    subject: ['poolTag', 'environmentName', 'branch'],
    facts: {
      Repository: 'repositoryIdentifier',
      Org: 'orgUsername',
      Branch: 'branch',
      For: 'assignedFor',
      'Assigned to': 'assignedTo',
      Expires: 'expiresAt',
      Reason: 'reason',
    },
    links: [{ page: '/review-env/{assignmentId}' }],
  },
  review_pool: {
    subject: ['poolTag', 'tag'],
    facts: {
      Repository: 'repositoryIdentifier',
      Available: 'available',
      Wanted: 'minAvailable',
      Waiting: 'waiting',
      Reason: 'reason',
    },
    links: [call('Review pools', 'getReviewPool', '/api/review/pools/{poolId}')],
  },
  work_item_request: {
    subject: ['workItemId', 'workItemKey', 'taskType'],
    facts: { Project: 'project', Task: 'taskType', Status: 'status', Before: 'previousStatus', Reason: 'reason' },
    links: [{ member: 'workItemUrl', label: 'The work item' }],
  },
  org: ORG,
  org_explorer: {
    ...ORG,
    facts: { Org: 'orgUsername', Status: 'status', Components: 'componentsCount', Error: 'error' },
  },
  org_limit: {
    subject: ['limitName', 'orgUsername'],
    facts: {
      Org: 'orgUsername',
      Limit: 'limitName',
      Used: 'used',
      Allowed: 'max',
      'Used, %': 'usagePct',
      'Used up': 'forecastAt',
    },
  },
  gc: {
    subject: ['packageName'],
    facts: {
      Repository: 'repositoryIdentifier',
      Branch: 'branch',
      Package: 'packageName',
      Components: 'count',
      By: 'changedBy',
    },
    links: [
      call('GC ledger', 'listGcEntries', '/api/gc-ledger?repositoryIdentifier={repositoryIdentifier}&branch={branch}'),
    ],
  },
  code_analysis: {
    subject: ['branch'],
    facts: {
      Repository: 'repositoryIdentifier',
      Branch: 'branch',
      Issues: 'totalIssues',
      Errors: 'errors',
      Warnings: 'warnings',
    },
  },
  ai_report: {
    subject: ['scopeName'],
    facts: { Repository: 'repositoryIdentifier', Scope: 'scope', Status: 'status' },
  },
  project: {
    subject: ['repositoryIdentifier'],
    facts: { Platform: 'platform', Branch: 'defaultBranch' },
    links: [consolePage('/where?project={repositoryIdentifier}')],
  },
  user: {
    subject: ['email'],
    facts: { 'First name': 'firstName', 'Last name': 'lastName', Role: 'role', By: 'changedBy' },
    links: [call('Users', 'getUser', '/api/users/{email}')],
  },
  document: { subject: ['collection', 'key'], facts: { Store: 'store', Version: 'version', By: 'changedBy' } },
  application_token: {
    subject: ['name'],
    facts: { Expires: 'expiresAt', 'Made by': 'createdBy' },
    links: [call('Application tokens', 'listApplicationTokens', '/api/application-tokens')],
  },
  audit_export: {
    subject: ['status'],
    facts: { 'Requested by': 'requestedBy', Rows: 'rowCount', Error: 'error' },
    links: [call('Audit', 'getAuditExport', '/api/audit/exports/{id}')],
  },
  webhook: {
    subject: ['name'],
    facts: { Address: 'url', Reason: 'reason' },
    links: [call('Webhooks', 'getWebhook', '/api/webhooks/{id}')],
  },
  chat_workspace: {
    subject: ['teamName'],
    facts: { Team: 'teamId', Reason: 'reason' },
    links: [call('Chat workspace', 'getChatWorkspace', '/api/slack/workspace?team_id={teamId}')],
  },
  ai_budget: {
    subject: ['name'],
    facts: { Repository: 'repositoryIdentifier', Month: 'month', 'Budget (USD)': 'budget', 'Spent (USD)': 'spent' },
  },
  metrics_series: { subject: ['day'], facts: { Day: 'day', Limit: 'limit' } },
};
