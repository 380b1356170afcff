import { z } from 'zod';
import {
  devHubFor,
  handToken,
  handTokenByName,
  withCredentials,
} from '../../../domain/orgs/crm-orgs/tokens/org-credentials.ts';
import { openFrontDoor } from '../../../domain/orgs/crm-orgs/doors/org-front-doors.ts';
import { authenticateSandbox, authenticateScratch } from '../../../domain/orgs/crm-orgs/doors/org-sign-ins.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { reply } from '../../http/replies.ts';
import { orgReply } from './crm-orgs.schemas.ts';
import {
  AuthTypeInQuery,
  FrontDoorOut,
  FrontDoorQuery,
  HandedToken,
  OrgWithCredentials,
  ProjectIdentifier,
  SandboxAuthIn,
  SandboxAuthOut,
  ScratchAuthIn,
  ScratchAuthOut,
  TokenIn,
} from './org-credentials.schemas.ts';
import { orgScope } from './org-scope.ts';

const GROUP = 'CRM orgs';
/** Said of all routes that find orgs through others. */
const OF_PROJECTS =
  "A token limited to projects reaches an org without a record only if an environment of its projects names its username; that of a sandbox is the production org's, a dot and its name. Otherwise the reply is 404.";
const AWAY = ['upstream_error', 'upstream_timeout'] as const;

export const orgCredentialsRoutes = [
  defineRoute({
    operationId: 'getDefaultDevHub',
    method: 'get',
    path: '/api/auth/crm/default-devhub',
    group: GROUP,
    summary: 'Get the default dev hub, for owners and applications with credentials',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({ projectIdentifier: ProjectIdentifier, authType: AuthTypeInQuery }),
    status: 200,
    response: OrgWithCredentials,
    errors: AWAY,
    givesCredential: true,
    audit: ['org.credentials_read', 'integration.credentials_read'],
    async handle({ query: { projectIdentifier, authType } }, scope) {
      const crmScope = orgScope(scope);
      const hub = await devHubFor(crmScope, projectIdentifier);
      const { org, credentials } = await withCredentials(crmScope, hub, authType);
      return { ...orgReply(org), credentials };
    },
  }),
  defineRoute({
    operationId: 'createDevHubToken',
    method: 'post',
    path: '/api/auth/crm/default-devhub/access-token',
    group: GROUP,
    summary: 'Get a fresh access token of the default dev hub',
    description: 'Minted within the last five minutes; usually valid for one to two hours.',
    roles: ['owner', 'application'],
    projectScope: 'row',
    query: z.strictObject({ projectIdentifier: ProjectIdentifier }),
    status: 200,
    response: HandedToken,
    errors: AWAY,
    givesCredential: true,
    audit: 'org.credentials_read',
    async handle({ query: { projectIdentifier } }, scope) {
      const crmScope = orgScope(scope);
      return handToken(crmScope, await devHubFor(crmScope, projectIdentifier));
    },
  }),
  defineRoute({
    operationId: 'createOrgToken',
    method: 'post',
    path: '/api/auth/crm/access-token',
    group: GROUP,
    summary: 'Get a fresh access token of an org',
    description: `Minted within the last five minutes; usually valid for one to two hours. \`username\` is a registered org, or a scratch org that a registered dev hub knows and stores an auth URL of. \`sandboxName\` is a registered sandbox, or one of a registered production org; one of several gets 409 \`ambiguous\` with \`candidates\`. ${OF_PROJECTS}`,
    roles: ['owner', 'application'],
    projectScope: 'row',
    query: TokenIn,
    status: 200,
    response: HandedToken,
    errors: [...AWAY, 'in_progress'],
    givesCredential: true,
    audit: 'org.credentials_read',
    handle: ({ query: { username, sandboxName = '' } }, scope) =>
      handTokenByName(orgScope(scope), username === undefined ? { sandboxName } : { username }),
  }),
  defineRoute({
    operationId: 'openFrontDoor',
    method: 'get',
    path: '/api/auth/crm/frontdoor',
    group: GROUP,
    summary: 'Open an org in the browser',
    description: `Redirects to a front door of the org, which opens a session once; with \`redirect=false\` the reply has its address. \`target\` is sought among registered orgs, then among orgs of review pools that are assigned and have an auth URL, then as a scratch org in the dev hubs, then as a sandbox of \`prodOrg\` or of every production org: one of several gets 409 \`ambiguous\` with \`candidates\`. Production orgs and dev hubs are for owners and applications. ${OF_PROJECTS}`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: FrontDoorQuery,
    status: 302,
    otherStatuses: [200],
    response: FrontDoorOut,
    errors: [...AWAY, 'in_progress'],
    givesCredential: true,
    audit: 'org.front_door_opened',
    async handle({ query: { target, prodOrg, path, redirect } }, scope) {
      const url = await openFrontDoor(orgScope(scope), { target, prodOrg, path });
      const headers = { 'Referrer-Policy': 'no-referrer' };
      return redirect
        ? reply({ url }, { status: 302, headers: { ...headers, Location: url } })
        : reply({ url }, { status: 200, headers });
    },
  }),
  defineRoute({
    operationId: 'authenticateSandbox',
    method: 'post',
    path: '/api/auth/crm/sandbox/authenticate',
    group: GROUP,
    summary: 'Sign in to a sandbox through its production org',
    description: `Without \`productionUsername\` every registered production org is asked for the sandbox. A code is only exchanged when the refresh token of the sandbox, which is kept, is no longer valid. ${OF_PROJECTS}`,
    roles: ['owner', 'application'],
    projectScope: 'row',
    body: SandboxAuthIn,
    status: 200,
    response: SandboxAuthOut,
    errors: [...AWAY, 'in_progress'],
    givesCredential: true,
    audit: ['org.credentials_read', 'org.front_door_opened'],
    handle: ({ body }, scope) => authenticateSandbox(orgScope(scope), body),
  }),
  defineRoute({
    operationId: 'authenticateScratchOrg',
    method: 'post',
    path: '/api/auth/crm/scratch/authenticate',
    group: GROUP,
    summary: 'Sign in to a scratch org by the auth URL that its dev hub stores',
    description: `The field \`CRM_SCRATCH_AUTH_FIELD\` of the dev hub holds the auth URL; where it is missing or empty the reply is 400 and names it. A scratch org that is not active gets 404. ${OF_PROJECTS}`,
    roles: ['owner', 'application'],
    projectScope: 'row',
    body: ScratchAuthIn,
    status: 200,
    response: ScratchAuthOut,
    errors: AWAY,
    givesCredential: true,
    audit: ['org.credentials_read', 'org.front_door_opened'],
    handle: ({ body }, scope) => authenticateScratch(orgScope(scope), body),
  }),
];
