import { z } from 'zod';
import {
  branch,
  byWhom,
  defineEvent,
  defineEvents,
  environmentName,
  id,
  dateTime,
  number,
  repositoryIdentifier,
  text,
  texts,
} from './event-definition.ts';

const orgUsername = text('Username of the org', 'ci@acme.example.com');

const EnvironmentLock = z.strictObject({
  environmentId: id('Environment'),
  environmentName,
  repositoryIdentifier,
  ticketId: id('Ticket that holds the lock, or held it'),
  holder: byWhom.nullable().optional(),
  executionId: text('Run that it is held for', 'run-48151').nullable().optional(),
  reason: text('Why it is held', 'deployment of 2026.03').nullable().optional(),
  expiresAt: dateTime('When the lease expires').nullable().optional(),
});

const ReviewEnvironment = z.strictObject({
  assignmentId: id('Assignment'),
  repositoryIdentifier,
  assignmentType: text('pr, issue, user or custom', 'pr').optional(),
  assignedFor: text('Key of the pull request, issue or other thing; e-mail of a person', '118').optional(),
  environmentName: environmentName.nullable().optional(),
  poolTag: text('Pool from which the org came', 'review').nullable().optional(),
  orgUsername: orgUsername.nullable().optional(),
  branch: branch.nullable().optional(),
  prNumber: number('Pull request under review', 118).nullable().optional(),
  assignedTo: byWhom.nullable().optional(),
  expiresAt: dateTime('When it expires').nullable().optional(),
  reason: text('Why it ended', 'the org has failed').nullable().optional(),
});

const BrowserSession = z.strictObject({
  sessionId: id('Browser session'),
  repositoryIdentifier,
  prNumber: number('Pull request that it shows', 118).nullable(),
  environmentId: id('Environment that it shows').nullable(),
  environmentName: environmentName.nullable(),
  orgUsername,
  provider: text('local, browserbase or external', 'local'),
  status: text('live, ended, expired or error', 'ended'),
  statusReason: text('Why it has this status', 'stopped').nullable(),
  startedBy: byWhom,
  liveAt: dateTime('When it was live').nullable(),
  endedAt: dateTime('When it ended').nullable(),
  expiresAt: dateTime('When it expires, or was to expire'),
  recording: text('State of the recording: none, recording, processing, ready, partial or expired', 'ready'),
  recordingPages: number('Pages of the recording, one per tab', 1),
});

const ReviewPool = z.strictObject({
  poolId: id('Pool'),
  poolTag: text('Tag of the pool', 'review'),
  repositoryIdentifier,
  available: number('Orgs that are available', 1),
  minAvailable: number('Orgs that are to be available', 3),
  waiting: number('Requests that wait for an org', 0),
  prepareFailures: number('Runs of pool-prepare that failed in a row', 0),
  reason: text('Why nothing prepares orgs, or the last run that should have failed', 'The run has failed')
    .nullable()
    .optional(),
});

const OrgLimit = z.strictObject({
  orgUsername,
  limitName: text('Limit', 'DailyApiRequests'),
  max: number('Allowed', 100_000),
  used: number('Used', 91_000),
  remaining: number('Remaining', 9_000),
  usagePct: number('Used, per cent', 91),
  alertLevel: text('ok, warning or critical', 'critical'),
  previousLevel: text('Level that was announced before', 'warning').optional(),
  forecastAt: dateTime('When it will be used up if it rises as it did; null where that is not foreseen')
    .nullable()
    .optional(),
});

const DroppedComponents = z.strictObject({
  repositoryIdentifier,
  branch,
  packageName: text('Package that dropped them', 'sales-ui'),
  status: text('Status in the ledger', 'detected'),
  count: number('How many components of the package', 1),
  components: z.array(z.strictObject({ componentType: z.string(), fullName: z.string() })).meta({
    description: 'The first 100 of them by type and name',
    example: [{ componentType: 'ApexClass', fullName: 'InvoiceController' }],
  }),
  changedBy: byWhom.nullable().optional(),
});

export const environmentEvents = {
  ...defineEvents(EnvironmentLock, {
    'environment.locked': 'An environment was locked for one holder',
    'environment.unlocked': 'The lock of an environment was released or expired',
  }),
  ...defineEvents(ReviewEnvironment, {
    'review_environment.assigned': 'A review environment was assigned',
    'review_environment.released': 'A review environment was released',
    'review_environment.expiring': 'The lease of a review environment ends within two hours',
    'review_environment.expired': 'A review environment expired',
  }),
  ...defineEvents(BrowserSession, {
    'browser_session.live': 'A browser was allocated and shows its first page',
    'browser_session.ended': 'A browser session ended, expired or failed',
    'browser_session.recording_ready': 'The recording of a browser session, or a part of it, can be played',
  }),
  ...defineEvents(ReviewPool, { 'review_pool.low': 'A review pool has fewer available orgs than it should' }),
  'org.registered': defineEvent(
    'A CRM org was registered',
    z.strictObject({
      orgUsername,
      orgId: text('Id of the org', '00D000000000001EAA').nullable().optional(),
      orgType: text('Kind of org: production, devhub, sandbox or scratch', 'sandbox'),
      instanceUrl: text('Address of the org', 'https://acme.my.crm.example.com').nullable().optional(),
      alias: text('Alias', 'acme-uat').nullable().optional(),
      registeredBy: byWhom.nullable().optional(),
    }),
  ),
  'org.auth_failed': defineEvent(
    'The stored credential of a CRM org is no longer valid',
    z.strictObject({ orgUsername, error: text('What the org answered', 'expired access/refresh token') }),
  ),
  'org.auth_recovered': defineEvent('The credential of a CRM org is valid again', z.strictObject({ orgUsername })),
  'org.removed': defineEvent(
    'A CRM org was removed, with its credentials',
    z.strictObject({ orgUsername, orgId: text('Id of the org', '00D000000000001EAA'), removedBy: byWhom }),
  ),
  'org.expiring': defineEvent(
    'A scratch org expires within three days',
    z.strictObject({ orgUsername, expiresAt: dateTime('When it expires') }),
  ),
  'org_explorer.refreshed': defineEvent(
    'The index of the metadata of a CRM org was brought up to date, or that failed',
    z.strictObject({
      orgUsername,
      orgId: text('Id of the org', '00D000000000001EAA'),
      jobId: id('Refresh'),
      status: text('Outcome: succeeded or failed', 'succeeded'),
      typesCount: number('Types that were read', 214),
      componentsCount: number('Components in the index', 20_114),
      filesRetrieved: number('Files that were read', 40),
      changes: z
        .strictObject({
          created: number('Components that are new since the last sync', 2),
          changed: number('Components that changed since', 17),
          deleted: number('Components that are gone since', 1),
        })
        .meta({
          description: 'What changed since the last sync: created, changed and deleted components',
          example: { created: 2, changed: 17, deleted: 1 },
        }),
      failedTypes: texts('Types that could not be read', []),
      durationMs: number('How long it took, in milliseconds', 5_210),
      error: text('Why it failed', 'The org did not answer in time').nullable(),
    }),
  ),
  ...defineEvents(OrgLimit, {
    'org_limit.warning': 'A limit of an org reached the warning level',
    'org_limit.critical': 'A limit of an org reached the critical level',
    'org_limit.recovered': 'A limit of an org is below the warning level again',
  }),
  ...defineEvents(DroppedComponents, {
    'gc.detected': 'Components were dropped from a package and are still in orgs; one event per package and request',
    'gc.dismissed': 'A dropped component was dismissed by a person',
    'gc.reclaimed': 'Dropped components are gone from the orgs; one event per package and request',
  }),
};
