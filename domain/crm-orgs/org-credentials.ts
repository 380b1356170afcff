import { isOwnPath } from '../auth/own-path-rules.ts';
import { formatAuthUrl } from '../crm/auth-url-rules.ts';
import type { CrmAnswer, CrmOrg, FrontDoor } from '../crm/crm-platform.port.ts';
import { isSameOrgId, longId } from '../crm/org-id-rules.ts';
import { permittedAuthUrl } from '../crm/org-origin.ts';
import { projectInRequest } from '../projects/projects.queries.ts';
import { DomainError, invalidField, notFound } from '../shared/errors.ts';
import { defaultDevHub, firstDevHub, orgByUsername, type OrgRow } from './crm-orgs.queries.ts';
import { mintByApp } from './org-app-tokens.ts';
import { stillCopying } from './org-registration.ts';
import { platformFailed } from './org-failure-rules.ts';
import { mayOpenFrontDoor, mayReadCredentials } from './org-rules.ts';
import { type OrgScope, placeOf } from './org-scope.ts';
import {
  findSandboxTarget,
  findScratchTarget,
  findTarget,
  type OrgTarget,
  parentOrg,
  type SandboxTarget,
  type ScratchTarget,
} from './org-targets.ts';

/** A token that is handed out was minted at most so long ago. */
const FRESH_MS = 5 * 60_000;

export const AUTH_TYPES = ['accessToken', 'cliAuthUrl', 'jwt', 'none'] as const;
export type AuthType = (typeof AUTH_TYPES)[number];

export type OrgCredentials =
  | { type: 'accessToken' | 'jwt'; accessToken: string; instanceUrl: string }
  | { type: 'cliAuthUrl'; cliAuthUrl: string };

/** An access token that is handed out. */
export interface HandedToken {
  accessToken: string;
  instanceUrl: string;
  username: string;
  orgId: string;
  isDevHub: boolean;
}

interface Access {
  token: HandedToken;
  /** The calls of the org with that token. */
  calls: CrmOrg;
  /** Of a scratch org: its auth URL, as stored or with the refresh token that replaced the stored one. */
  cliAuthUrl: string | null;
}

/** An access token for an org. Throws `upstream_error`, `upstream_timeout`; and as `accessOfSandbox`, `accessOfScratch`. */
function accessOf(scope: OrgScope, target: OrgTarget): Promise<Access> {
  if (target.type === 'sandbox') return accessOfSandbox(scope, target);
  return target.type === 'scratch' ? accessOfScratch(scope, target) : accessOfRegistered(scope, target.org);
}

async function accessOfRegistered(scope: OrgScope, org: OrgRow): Promise<Access> {
  const { connections } = scope.crm;
  const place = placeOf(scope, org.id);
  const minted = await connections.tokenOf(place, { maxAgeMs: FRESH_MS });
  if (!minted.isOk) throw platformFailed(`Org ${org.username} gives no access token`, minted);
  const { accessToken, instanceUrl, platformOrgId } = minted.value;
  const { username, isDevHub } = org;
  return {
    token: { accessToken, instanceUrl, username, orgId: platformOrgId ?? org.platformOrgId, isDevHub },
    calls: connections.callOrg(place),
    cliAuthUrl: null,
  };
}

/** Throws `in_progress` for a sandbox that is still being copied. */
async function accessOfSandbox(scope: OrgScope, { production, sandbox }: SandboxTarget): Promise<Access> {
  if (sandbox.state === 'copying') throw stillCopying(sandbox);
  const { connections } = scope.crm;
  const place = placeOf(scope, production.id, sandbox.name);
  const minted = await connections.tokenOf(place, { maxAgeMs: FRESH_MS });
  if (!minted.isOk)
    throw platformFailed(`Sandbox ${sandbox.name} of ${production.username} gives no access token`, minted);
  const { accessToken, instanceUrl, username, platformOrgId } = minted.value;
  return {
    token: {
      accessToken,
      instanceUrl,
      username: username ?? sandbox.name,
      orgId: platformOrgId ?? longId(sandbox.orgId ?? ''),
      isDevHub: false,
    },
    calls: connections.callOrg(place),
    cliAuthUrl: null,
  };
}

/** Throws `not_found` for one that is not active, `invalid_request` where the dev hub stores no auth URL of it. */
async function accessOfScratch({ crm }: OrgScope, { devHub, scratch }: ScratchTarget): Promise<Access> {
  const { username, auth } = scratch;
  if (scratch.status !== 'Active')
    throw new DomainError('not_found', `Scratch org ${username} is not active: its status is ${scratch.status}`);
  if (auth.state !== 'present')
    throw new DomainError(
      'invalid_request',
      auth.state === 'no_field'
        ? `The dev hub ${devHub.username} has no field ${auth.field}, or does not show it, so that it stores no auth URL of ${username}`
        : `The field ${auth.field} of ${username} is empty at the dev hub ${devHub.username}: there is no auth URL`,
    );
  const what = `Scratch org ${username} gives no access token`;
  const parsed = permittedAuthUrl(auth.authUrl, crm.outbound);
  if (!parsed.isOk)
    throw new DomainError(
      'upstream_error',
      `${what}: the dev hub ${devHub.username} stores no valid one. ${parsed.reason}`,
      {
        members: { hint: `Write a valid auth URL into ${auth.field}.` },
      },
    );
  const minted = await crm.platform.refresh(parsed.authUrl);
  if (!minted.isOk) throw platformFailed(what, minted);
  const { accessToken, instanceUrl, orgId, refreshToken } = minted.value;
  if (orgId && scratch.orgId && !isSameOrgId(orgId, scratch.orgId))
    throw new DomainError(
      'upstream_error',
      `${what}: the auth URL that the dev hub ${devHub.username} stores is that of another org`,
      { members: { hint: `Write the auth URL of ${username} into ${auth.field}.` } },
    );
  return {
    token: { accessToken, instanceUrl, username, orgId: orgId ?? longId(scratch.orgId ?? ''), isDevHub: false },
    calls: crm.connections.callWith({ accessToken, instanceUrl }),
    // A rotated refresh token has made the stored one void.
    cliAuthUrl: formatAuthUrl(refreshToken === null ? parsed.authUrl : { ...parsed.authUrl, refreshToken }),
  };
}

const rowIdOf = (target: OrgTarget): string =>
  target.type === 'registered' ? target.org.id : target.type === 'sandbox' ? target.production.id : target.devHub.id;

const noteRead = ({ actor, requestId, crm }: OrgScope, orgId: string, username: string, what: string): Promise<void> =>
  crm.noteAccess({
    actor,
    requestId,
    action: 'credentials_read',
    orgId,
    summary: `Credentials of org ${username} read: ${what}`,
  });

/** A registered org with the credentials that the caller asks for and may have; members get the org alone. */
export async function withCredentials(
  scope: OrgScope,
  org: OrgRow,
  authType: AuthType,
): Promise<{ org: OrgRow; credentials?: OrgCredentials }> {
  if (authType === 'none' || !mayReadCredentials(scope.actor.role)) return { org };
  const credentials = await credentialsOf(scope, org, authType);
  await noteRead(scope, org.id, org.username, authType);
  return { org, credentials };
}

async function credentialsOf(scope: OrgScope, org: OrgRow, type: Exclude<AuthType, 'none'>): Promise<OrgCredentials> {
  switch (type) {
    case 'jwt':
      return { type, ...(await mintByApp(scope, org)) };
    case 'cliAuthUrl': {
      const credential = await scope.crm.connections.credentialOf(placeOf(scope, org.id));
      if (!credential.isOk) throw platformFailed(`Org ${org.username} gives no auth URL`, credential);
      return { type, cliAuthUrl: formatAuthUrl(credential.value) };
    }
    case 'accessToken': {
      const { accessToken, instanceUrl } = (await accessOfRegistered(scope, org)).token;
      return { type, accessToken, instanceUrl };
    }
  }
}

/** The default dev hub of a project, else of the tenant. Throws `not_found`; `invalid_request` for an unknown project. */
export async function devHubFor({ reads }: OrgScope, projectIdentifier: string | undefined): Promise<OrgRow> {
  let hub: OrgRow | undefined;
  if (projectIdentifier !== undefined) {
    const { configuration } = await projectInRequest(reads, projectIdentifier).catch((error: unknown) => {
      throw error instanceof DomainError ? invalidField('projectIdentifier', error.message) : error;
    });
    const { devHubs } = configuration;
    if (devHubs) hub = await firstDevHub(reads, devHubs);
  }
  hub ??= await defaultDevHub(reads);
  if (!hub) throw notFound('A default dev hub');
  return hub;
}

/** A fresh access token of a registered org. */
export async function handToken(scope: OrgScope, org: OrgRow): Promise<HandedToken> {
  const { token } = await accessOfRegistered(scope, org);
  await noteRead(scope, org.id, org.username, 'accessToken');
  return token;
}

/** A fresh access token by username (registered, or a scratch org of a dev hub) or by the name of a sandbox. */
export async function handTokenByName(
  scope: OrgScope,
  by: { username: string } | { sandboxName: string },
): Promise<HandedToken> {
  const target =
    'username' in by
      ? await findTarget(scope, { name: by.username })
      : await findSandboxTarget(scope, { name: by.sandboxName });
  const { token } = await accessOf(scope, target);
  await noteRead(scope, rowIdOf(target), token.username, 'accessToken');
  return token;
}

/** Throws `upstream_error`, `upstream_timeout`. */
function opened(username: string, door: CrmAnswer<FrontDoor>): string {
  if (!door.isOk) throw platformFailed(`Org ${username} opens no front door`, door);
  return door.value.url;
}

export interface FrontDoorOrder {
  target: string;
  /** Production org of a sandbox, by username or alias. */
  prodOrg?: string | undefined;
  /** Where the session begins. */
  path?: string | undefined;
}

/**
 * The address of a front door, a secret that opens a session. Throws `invalid_request` for a path that is not one within
 * the org, `forbidden` for members at production orgs and dev hubs, and as `findTarget`.
 */
export async function openFrontDoor(scope: OrgScope, { target: name, prodOrg, path }: FrontDoorOrder): Promise<string> {
  if (path !== undefined && !isOwnPath(path, ''))
    throw invalidField('path', 'must be a path within the org that begins with one slash');
  const parent =
    prodOrg === undefined ? undefined : await parentOrg(scope, { field: 'prodOrg', name: prodOrg, kind: 'production' });
  const target = await findTarget(scope, { name, parent, parentParameter: 'prodOrg' });
  if (target.type === 'registered' && !mayOpenFrontDoor(scope.actor.role, target.org))
    throw new DomainError('forbidden', 'Forbidden - Requires role: owner, application');
  const [username, calls] =
    target.type === 'registered'
      ? [target.org.username, scope.crm.connections.callOrg(placeOf(scope, target.org.id))]
      : await accessOf(scope, target).then((access) => [access.token.username, access.calls] as const);
  const url = opened(username, await calls.frontDoor(path));
  const { actor, requestId } = scope;
  await scope.crm.noteAccess({
    actor,
    requestId,
    action: 'front_door_opened',
    orgId: rowIdOf(target),
    summary: `Front door of org ${username} opened`,
    ...(path !== undefined && { after: { path } }),
  });
  return url;
}

/** A parent of an unregistered org, as replies show it. */
const shownParent = ({ username, platformOrgId: orgId, instanceUrl }: OrgRow) => ({ username, orgId, instanceUrl });

/** The production org of a registered sandbox, as far as the caller sees it. */
async function parentOf({ reads }: OrgScope, { parentProductionUsername: username }: OrgRow) {
  const production = username === null ? undefined : await orgByUsername(reads, username);
  return production ? shownParent(production) : { username, orgId: null, instanceUrl: null };
}

export interface SandboxOrder {
  sandboxName: string;
  productionUsername?: string | undefined;
}

/** Signs in to a sandbox through its production org. Throws as `findTarget`, and `in_progress`. */
export async function authenticateSandbox(scope: OrgScope, { sandboxName: name, productionUsername }: SandboxOrder) {
  const parent =
    productionUsername === undefined
      ? undefined
      : await parentOrg(scope, { field: 'productionUsername', name: productionUsername, kind: 'production' });
  const target = await findSandboxTarget(scope, { name, parent, parentParameter: 'productionUsername' });
  const productionOrg = target.type === 'sandbox' ? shownParent(target.production) : await parentOf(scope, target.org);
  const { token: first, calls } = await accessOf(scope, target);
  const frontDoorUrl = opened(first.username, await calls.frontDoor());
  // Opening the front door renews a token that the sandbox no longer takes.
  const { token } = await accessOf(scope, target);
  await noteRead(scope, rowIdOf(target), token.username, 'access token and front door');
  const { accessToken, instanceUrl, username: sandboxUsername } = token;
  return {
    sandboxName: name,
    sandboxUsername,
    accessToken,
    instanceUrl,
    frontDoorUrl,
    productionOrg,
  };
}

export interface ScratchOrder {
  scratchOrgUsername: string;
  /** The dev hub. */
  productionUsername?: string | undefined;
}

/** Signs in to a scratch org by the auth URL that its dev hub stores. Throws as `findScratchTarget` and `accessOfScratch`. */
export async function authenticateScratch(
  scope: OrgScope,
  { scratchOrgUsername: name, productionUsername }: ScratchOrder,
) {
  const parent =
    productionUsername === undefined
      ? undefined
      : await parentOrg(scope, { field: 'productionUsername', name: productionUsername, kind: 'devhub' });
  const target = await findScratchTarget(scope, { name, parent });
  const { token, calls, cliAuthUrl } = await accessOfScratch(scope, target);
  const frontDoorUrl = opened(token.username, await calls.frontDoor());
  await noteRead(scope, target.devHub.id, token.username, 'access token, auth URL and front door');
  const { accessToken, instanceUrl, orgId, username: scratchOrgUsername } = token;
  return {
    scratchOrgUsername,
    accessToken,
    instanceUrl,
    frontDoorUrl,
    cliAuthUrl: cliAuthUrl ?? '',
    orgId,
    devhubOrg: shownParent(target.devHub),
  };
}
