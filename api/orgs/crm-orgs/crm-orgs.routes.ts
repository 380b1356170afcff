import { z } from 'zod';
import { listOrgs, ORGS_MAX } from '../../../domain/orgs/crm-orgs/crm-orgs.queries.ts';
import { withCredentials } from '../../../domain/orgs/crm-orgs/tokens/org-credentials.ts';
import { registerByAuthUrl, registeredOrg, registerSandbox } from '../../../domain/orgs/crm-orgs/org-registration.ts';
import { deleteOrg, testConnection, updateOrg } from '../../../domain/orgs/crm-orgs/org-changes.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { NoContent, queryFlag, queryInt } from '../../http/parameters.ts';
import { JsonText, pageReply, reply } from '../../http/replies.ts';
import {
  ConnectionTest,
  MetadataFilter,
  OptionalFlag,
  Org,
  OrgIn,
  OrgNameInQuery,
  OrgPatch,
  orgReply,
  orgsText,
  SandboxIn,
} from './crm-orgs.schemas.ts';
import { AuthTypeInQuery, OrgWithCredentials } from './org-credentials.schemas.ts';
import { orgScope } from './org-scope.ts';

const GROUP = 'CRM orgs';
const HEALTH_ACTIONS = ['org.auth_recovered', 'org.auth_failed'];

export const crmOrgsRoutes = [
  defineRoute({
    operationId: 'registerOrg',
    method: 'post',
    path: '/api/auth/crm/register',
    group: GROUP,
    summary: 'Register an org by its auth URL',
    description:
      'The credential is tried, and the org is asked who it is, before anything is stored: a refused one gets 400 with a hint. An org with the same username is updated (200).',
    roles: ['owner', 'application'],
    projectScope: 'row',
    body: OrgIn,
    status: 201,
    otherStatuses: [200],
    response: Org,
    errors: ['upstream_error', 'upstream_timeout'],
    audit: ['org.registered', 'org.updated', ...HEALTH_ACTIONS],
    async handle({ body }, scope) {
      const { org, isNew } = await registerByAuthUrl(orgScope(scope), body);
      return reply(orgReply(org), { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute({
    operationId: 'registerSandbox',
    method: 'post',
    path: '/api/auth/crm/register-sandbox-by-name',
    group: GROUP,
    summary: 'Register a sandbox by its name',
    description:
      'Its production org is registered, and signed in to by the user who made the sandbox. Access is obtained just in time through the production org. A sandbox that is still being copied gets 409 `in_progress` with its progress. To a token limited to projects it is unknown unless an environment of its projects names its username.',
    roles: ['owner', 'application'],
    projectScope: 'row',
    body: SandboxIn,
    status: 201,
    otherStatuses: [200],
    response: Org,
    errors: ['in_progress', 'upstream_error', 'upstream_timeout'],
    audit: ['org.registered', 'org.updated', ...HEALTH_ACTIONS],
    async handle({ body }, scope) {
      const { org, isNew } = await registerSandbox(orgScope(scope), body);
      return reply(orgReply(org), { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute({
    operationId: 'listOrgs',
    method: 'get',
    path: '/api/auth/crm/orgs',
    group: GROUP,
    summary: 'List orgs',
    description: 'Ordered by username.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      type: z.string().min(1).max(100).optional().meta({
        description: 'An `organizationType`, or `production`, `sandbox`, `scratch`, `devhub`; without regard to case',
      }),
      devhub: OptionalFlag,
      metadata: MetadataFilter,
      limit: queryInt(1, ORGS_MAX, 1_000),
      offset: queryInt(0, 1_000_000, 0),
    }),
    status: 200,
    response: z.array(Org),
    async handle({ query: { limit, offset, devhub: isDevHub, ...given } }, { reads, requestUrl }) {
      const filter = { ...given, isDevHub };
      // One more than the page: whether there is a next one is all that a reply says of the rest.
      const orgs = await listOrgs(reads, filter, { limit: limit + 1, offset });
      const total = offset + orgs.length;
      return pageReply(requestUrl, { limit, offset, total }, new JsonText(orgsText(orgs.slice(0, limit))));
    },
  }),
  defineRoute({
    operationId: 'getOrg',
    method: 'get',
    path: '/api/auth/crm/org',
    group: GROUP,
    summary: 'Get an org, for owners and applications with credentials',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({ username: OrgNameInQuery, authType: AuthTypeInQuery }),
    status: 200,
    response: OrgWithCredentials,
    errors: ['upstream_error', 'upstream_timeout'],
    givesCredential: true,
    audit: ['org.credentials_read', 'integration.credentials_read'],
    async handle({ query: { username, authType } }, scope) {
      const crmScope = orgScope(scope);
      const { org, credentials } = await withCredentials(crmScope, await registeredOrg(crmScope, username), authType);
      return { ...orgReply(org), credentials };
    },
  }),
  defineRoute({
    operationId: 'updateOrg',
    method: 'patch',
    path: '/api/auth/crm/org',
    group: GROUP,
    summary: 'Update an org',
    description:
      '`isDevHub: true` is verified at the org, and so is `isDefault: true` unless the org is known as a dev hub; `isDevHub: false` also ends the default. `cliAuthUrl` is tried, must belong to the same username, and turns a just-in-time registration into an ordinary one.',
    roles: ['owner', 'application'],
    projectScope: 'row',
    query: z.strictObject({ username: OrgNameInQuery }),
    body: OrgPatch,
    status: 200,
    response: Org,
    errors: ['upstream_error', 'upstream_timeout'],
    audit: ['org.updated', ...HEALTH_ACTIONS],
    handle: async ({ query: { username }, body }, scope) => orgReply(await updateOrg(orgScope(scope), username, body)),
  }),
  defineRoute({
    operationId: 'deleteOrg',
    method: 'delete',
    path: '/api/auth/crm/org',
    group: GROUP,
    summary: 'Delete an org with its credentials',
    description:
      'Everything that is kept of the org goes with it. With `revoke`, its refresh token and those of its sandboxes that are not registered are revoked at the platform first; if one fails, the org stays. Auth URLs of scratch orgs that a dev hub stores are left as they are.',
    roles: ['owner'],
    projectScope: 'row',
    query: z.strictObject({ username: OrgNameInQuery, revoke: queryFlag(false) }),
    status: 204,
    response: NoContent,
    errors: ['upstream_error', 'upstream_timeout'],
    audit: 'org.removed',
    handle: ({ query: { username, revoke: isRevoked } }, scope) => deleteOrg(orgScope(scope), username, { isRevoked }),
  }),
  defineRoute({
    operationId: 'testOrgConnection',
    method: 'post',
    path: '/api/auth/crm/test-connection',
    group: GROUP,
    summary: 'Test the connection to an org',
    description:
      'Always asks the org, also after it refused the credential, and updates the record by what it answers. An org that refuses or does not answer is a reply with `isValid: false`.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({ username: OrgNameInQuery }),
    status: 200,
    response: ConnectionTest,
    audit: ['org.connection_tested', ...HEALTH_ACTIONS],
    handle: ({ query: { username } }, scope) => testConnection(orgScope(scope), username),
  }),
];
