import { UntrustedJson } from '../builds/untrusted-json-rules.ts';
import { type ChatMessage, context, escaped, facts, header, link, message } from './message-rules.ts';

/** What messages about a family of events show. Members are paths of the event's data. */
interface Family {
  /** What the event is about, in a few words: members, joined. */
  subject: readonly string[];
  facts: Readonly<Record<string, string>>;
  /** Address of the thing: a path of the service with members in braces, or a member that holds one. */
  link?: string;
}

const PLACE = { Repository: 'repositoryIdentifier', Domain: 'domain' };
const RELEASE: Family = {
  subject: ['releaseName', 'environmentName'],
  facts: {
    ...PLACE,
    Release: 'releaseName',
    Environment: 'environmentName',
    Branch: 'branch',
    Reason: 'reason',
    By: 'by',
  },
  link: '/api/releases/{releaseName}/notes?repositoryIdentifier={repositoryIdentifier}&domain={domain}&format=html',
};
const ORG: Family = {
  subject: ['orgUsername'],
  facts: { Org: 'orgUsername', Type: 'orgType', Error: 'error', Expires: 'expiresAt' },
};

/** One renderer for each family: what stands before the first dot of an event's name. */
const FAMILIES: Readonly<Record<string, Family>> = {
  release: RELEASE,
  deployment: {
    ...RELEASE,
    facts: { ...PLACE, Release: 'releaseName', Environment: 'environmentName', Status: 'status', By: 'deployedBy' },
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
    link: '/api/release-candidates/{id}',
  },
  promotion: {
    subject: ['releaseName', 'environmentName'],
    facts: { ...PLACE, Run: 'taskType', Reason: 'reason', By: 'by' },
    link: '/api/flows/runs/{executionId}',
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
    link: 'buildUrl',
  },
  flow: {
    subject: ['taskType', 'environmentName'],
    facts: {
      Repository: 'repositoryIdentifier',
      Environment: 'environmentName',
      'Started by': 'startedBy',
      Reason: 'reason',
      Error: 'error',
    },
    link: '/api/flows/runs/{id}',
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
  },
  environment: {
    subject: ['environmentName'],
    facts: { Repository: 'repositoryIdentifier', Holder: 'holder', Reason: 'reason', Expires: 'expiresAt' },
    link: '/api/environments/{environmentId}',
  },
  review_environment: {
    subject: ['poolTag', 'environmentName', 'branch'],
    facts: {
      Repository: 'repositoryIdentifier',
      Org: 'orgUsername',
      Branch: 'branch',
      'Assigned to': 'assignedTo',
      Expires: 'expiresAt',
    },
    link: '/review-env/{assignmentId}',
  },
  review_pool: {
    subject: ['poolTag', 'tag'],
    facts: { Repository: 'repositoryIdentifier', Available: 'available', Wanted: 'minAvailable' },
  },
  work_item_request: {
    subject: ['workItemId', 'workItemKey', 'taskType'],
    facts: { Project: 'project', Task: 'taskType', Status: 'status', Before: 'previousStatus', Reason: 'reason' },
    link: 'workItemUrl',
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
  project: { subject: ['repositoryIdentifier'], facts: { Platform: 'platform', Branch: 'defaultBranch' } },
  user: {
    subject: ['email'],
    facts: { 'First name': 'firstName', 'Last name': 'lastName', Role: 'role', By: 'changedBy' },
  },
  document: { subject: ['collection', 'key'], facts: { Store: 'store', Version: 'version', By: 'changedBy' } },
  application_token: { subject: ['name'], facts: { Expires: 'expiresAt', 'Made by': 'createdBy' } },
  audit_export: { subject: ['status'], facts: { 'Requested by': 'requestedBy', Rows: 'rowCount', Error: 'error' } },
  webhook: { subject: ['name'], facts: { Address: 'url', Reason: 'reason' } },
  chat_workspace: { subject: ['teamName'], facts: { Reason: 'reason' } },
};

const MEMBERS_SHOWN = 10;

/** `deployment.failed`: `Deployment failed`. */
const wordsOf = (event: string): string => {
  const words = event.replaceAll(/[._-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The message about an event. Whatever its data holds, mentions and markup in it are dead. */
export function notification(event: string, data: unknown, publicUrl: string): ChatMessage {
  const [group = ''] = event.split('.', 1);
  const given = new UntrustedJson(data);
  const family = Object.hasOwn(FAMILIES, group) ? FAMILIES[group] : undefined;
  if (!family) return unknownEvent(event, data);
  const subject = family.subject.flatMap((member) => given.at(member).text(200) ?? []).join(' · ');
  const title = subject === '' ? wordsOf(event) : `${wordsOf(event)}: ${subject}`;
  const values = Object.fromEntries(
    Object.entries(family.facts).map(([name, member]) => [name, given.at(member).text()]),
  );
  const address = addressOf(family.link, given, publicUrl);
  return message(
    escaped(title, 1_000),
    [header(title), ...facts(values)],
    address === undefined ? [] : [context(link(address, 'Details'))],
    'There is more than fits here.',
  );
}

/** An event that clients queue: its first members that are texts or numbers. */
function unknownEvent(event: string, data: unknown): ChatMessage {
  const title = wordsOf(event);
  const members = typeof data === 'object' && data !== null && !Array.isArray(data) ? Object.keys(data) : [];
  const given = new UntrustedJson(data);
  const values = Object.fromEntries(
    members.slice(0, MEMBERS_SHOWN).map((name) => [escaped(name, 60), given.at(name).text(300)]),
  );
  return message(escaped(title, 1_000), [header(title), ...facts(values)], [], '');
}

/** Undefined where a member that it needs is absent. */
function addressOf(template: string | undefined, given: UntrustedJson, publicUrl: string): string | undefined {
  if (template === undefined) return undefined;
  if (!template.startsWith('/')) {
    const address = given.at(template).link();
    return address === null ? undefined : URL.parse(address)?.href.replaceAll(/[<>|]/g, encodeURIComponent);
  }
  let isComplete = true;
  const path = template.replaceAll(/\{(\w+)\}/g, (_, member: string) => {
    const value = given.at(member).text();
    isComplete &&= value !== null;
    return encodeURIComponent(value ?? '');
  });
  return isComplete ? publicUrl + path : undefined;
}
