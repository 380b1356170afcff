import { z } from 'zod';
import {
  byWhom,
  defineEvent,
  defineEvents,
  id,
  dateTime,
  number,
  reason,
  repositoryIdentifier,
  text,
  texts,
} from './event-definition.ts';

const User = z.strictObject({
  id: id('User'),
  email: text('E-mail', 'dana@example.com'),
  firstName: text('First name', 'Dana').optional(),
  lastName: text('Last name', 'Reyes').optional(),
  role: text('Role: owner, member or application', 'member').optional(),
  teams: texts('Slugs of the teams', ['platform']).optional(),
  changedBy: byWhom.optional(),
});

const Project = z.strictObject({
  id: id('Project'),
  repositoryIdentifier,
  platform: text('Git host: host-a, host-b or host-c', 'host-a'),
  defaultBranch: text('Branch that new work starts from', 'main'),
});

const Document = z.strictObject({
  store: text('Store: doc, changelog, packages or builds', 'doc'),
  collection: text('Collection', 'repo_storefront/settings'),
  key: text('Key in the collection', 'metadata'),
  version: number('Version of the document', 3),
  changedBy: byWhom.optional(),
});

export const accountEvents = {
  ...defineEvents(User, {
    'user.created': 'A user was added',
    'user.updated': 'A user, or a membership of theirs, changed',
    'user.removed': 'A user was removed',
  }),
  'application_token.expiring': defineEvent(
    'An application token expires within a week, or has less than a quarter of its lifetime left',
    z.strictObject({
      id: id('Token'),
      name: text('Name of the token', 'nightly-build'),
      expiresAt: dateTime('When it expires'),
      lastUsedAt: dateTime('When it was last used, to the minute').nullable(),
      createdBy: byWhom,
    }),
  ),
  ...defineEvents(Project, {
    'project.created': 'A repository was registered as a project',
    'project.updated': 'A project or its configuration changed',
    'project.deleted': 'A project was removed',
  }),
  ...defineEvents(Document, {
    'document.created': 'A document was created',
    'document.updated': 'A document changed',
    'document.deleted': 'A document was deleted',
  }),
  'audit_export.completed': defineEvent(
    'An export of the audit trail is ready or has failed',
    z.strictObject({
      id: id('Export'),
      status: text('Outcome: completed or failed', 'completed'),
      requestedBy: byWhom,
      rowCount: number('Rows in the file', 1_204).nullable().optional(),
      fileSizeBytes: number('Size of the file in bytes', 310_442).nullable().optional(),
      error: text('What went wrong', 'storage was full').nullable().optional(),
    }),
  ),
  'chat_workspace.disconnected': defineEvent(
    'The app of a chat workspace was removed there, or its tokens were revoked; nothing is sent there any more',
    z.strictObject({
      workspaceId: id('Chat workspace'),
      teamId: text('Id of the workspace at Slack', 'T0123ABCD'),
      teamName: text('Name of the workspace', 'Acme'),
      reason: text('Why', 'the app was removed from the workspace'),
    }),
  ),
  'webhook.disabled': defineEvent(
    'The service stopped delivering to a webhook because its receiver failed too often or is gone',
    z.strictObject({
      id: id('Webhook that was disabled'),
      name: text('Name of the webhook', 'release board'),
      event: text('First event to which it subscribes', 'release.published'),
      events: texts('Events and groups of events to which it subscribes', ['release.published']),
      url: text('URL of its receiver, without the query', 'https://hooks.example.com/releases'),
      reason,
      errorCount: number('Deliveries that failed since the last success', 20),
    }),
  ),
  'webhook.headers_dropped': defineEvent(
    'The URL of a webhook was changed, and headers with hidden values were not kept for the new one',
    z.strictObject({
      id: id('Webhook that was changed'),
      name: text('Name of the webhook', 'release board'),
      event: text('First event to which it subscribes', 'release.published'),
      events: texts('Events and groups of events to which it subscribes', ['release.published']),
      url: text('New URL of its receiver, without the query', 'https://hooks.example.com/releases'),
      headers: texts('Names of the headers that are not sent any more', ['Authorization']),
    }),
  ),
};
