import type { AuthUrl } from '../crm/auth-url-rules.ts';
import type { CrmOrg, MintedToken, OrgIdentity } from '../crm/crm-platform.port.ts';
import type { CrmSandbox } from '../crm/crm-sandboxes.port.ts';
import { isSameOrgId } from '../crm/org-id-rules.ts';
import { permittedAuthUrl, permittedOrigin } from '../crm/org-origin.ts';
import { DomainError, invalidField, notFound } from '../../kernel/shared/errors.ts';
import type { OrgMarks, SandboxOf } from './crm-orgs.mutations.ts';
import { registerOrg, type Registration } from './registrations.mutations.ts';
import { foundSandbox, orgByUsername, orgsByName, type OrgRow, productionOrgs } from './crm-orgs.queries.ts';
import { platformFailed, platformRefused } from './tokens/org-failure-rules.ts';
import { answeringOrg, isSameName, mayBeSandboxName } from '../../projects/environments/org-name-rules.ts';
import { notADevHub } from './org-rules.ts';
import { type OrgScope, orgKeyOf } from './org-scope.ts';
import { searchOrgs } from './org-search.ts';
import { reached } from './org-targets.ts';

/** The registered org of that username or sandbox name. Throws `not_found`, `ambiguous`. */
export async function registeredOrg({ reads }: Pick<OrgScope, 'reads'>, name: string): Promise<OrgRow> {
  const org = answeringOrg(await orgsByName(reads, name), name);
  if (!org) throw notFound(`Org ${name}`);
  return org;
}

/** Throws `invalid_request` with the hint for a credential that is malformed or refused, `upstream_error`, `upstream_timeout`. */
export async function tryCredential({ crm }: OrgScope, cliAuthUrl: string) {
  const parsed = permittedAuthUrl(cliAuthUrl, crm.outbound);
  if (!parsed.isOk) throw invalidField('cliAuthUrl', parsed.reason);
  const minted = await crm.platform.refresh(parsed.authUrl);
  if (!minted.isOk) throw platformRefused('The auth URL was tried', minted, 'cliAuthUrl');
  const org = crm.connections.callWith(minted.value);
  const identity = await org.identity();
  if (!identity.isOk) throw platformRefused('The org was asked who it is', identity, 'cliAuthUrl');
  return { credential: parsed.authUrl, minted: minted.value, org, identity: identity.value };
}

/** Throws `invalid_request` for an org that should be a dev hub and is not. */
export async function assertDevHub(
  org: CrmOrg,
  identity: OrgIdentity,
  { isDevHub, isDefault }: OrgMarks,
): Promise<void> {
  if (!isDevHub && !isDefault) return;
  const field = isDevHub ? 'isDevHub' : 'isDefault';
  const answer = await org.isDevHub();
  if (!answer.isOk) throw platformRefused(`Org ${identity.username} was asked whether it is a dev hub`, answer, field);
  if (!answer.value) throw notADevHub(identity, field);
}

export function assertMarks({ isDevHub, isDefault }: OrgMarks): void {
  if (isDefault && isDevHub === false)
    throw invalidField('isDefault', 'the default must be a dev hub: leave isDevHub out, or set it');
}

/** The address of an org: the one that was given, when it is that of the auth URL or the one that the platform gave. */
function instanceUrlOf(
  { crm }: OrgScope,
  given: string | undefined,
  { loginUrl }: AuthUrl,
  { instanceUrl }: MintedToken,
): string {
  if (given === undefined) return instanceUrl;
  const permitted = permittedOrigin(given, crm.outbound);
  if (!permitted.isOk) throw invalidField('instanceUrl', `The address ${permitted.reason}`);
  if (![loginUrl, instanceUrl].includes(permitted.origin))
    throw invalidField('instanceUrl', 'must be the address of the auth URL, or the one that the org itself gives');
  return permitted.origin;
}

export interface OrgRegistration extends OrgMarks {
  cliAuthUrl: string;
  instanceUrl?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

/**
 * Registers an org by its auth URL, or renews the one with its username: the credential is tried and the org asked who
 * it is before anything is stored. Throws `invalid_request`, `upstream_error`, `upstream_timeout`.
 */
export async function registerByAuthUrl(
  scope: OrgScope,
  { cliAuthUrl, instanceUrl, metadata, ...marks }: OrgRegistration,
): Promise<{ org: OrgRow; isNew: boolean }> {
  assertMarks(marks);
  const { credential, minted, org, identity } = await tryCredential(scope, cliAuthUrl);
  const address = instanceUrlOf(scope, instanceUrl, credential, minted);
  await assertDevHub(org, identity, marks);
  const sandbox = identity.kind === 'sandbox' ? await originOf(scope, identity) : undefined;
  const { encryption } = scope.crm;
  return scope.tx(async (tx) => {
    const { isNew } = await registerOrg(tx, {
      identity,
      sandbox,
      instanceUrl: address,
      marks: marks.isDefault ? { ...marks, isDevHub: true } : marks,
      metadata,
      access: { type: 'refresh_token', encryption, credential, minted },
    });
    return { org: await afterwards(tx, identity.username), isNew };
  });
}

/**
 * The registered production org of a sandbox, which is asked because the sandbox's username only suggests it; undefined
 * where it is not registered or does not answer.
 */
async function originOf(scope: OrgScope, { username, orgId }: OrgIdentity): Promise<SandboxOf | undefined> {
  const nameAt = (production: OrgRow) =>
    isSameName(username.slice(0, production.username.length + 1), `${production.username}.`)
      ? username.slice(production.username.length + 1)
      : '';
  const productions = (await productionOrgs(scope.reads)).filter((org) => mayBeSandboxName(nameAt(org)));
  const isSandbox = ({ orgId: found }: CrmSandbox) => found !== null && isSameOrgId(found, orgId);
  const found = await searchOrgs(
    productions,
    `the sandbox ${username}`,
    (org, signal) => scope.crm.connections.callOrg(orgKeyOf(scope, org.id), { signal }).findSandbox(nameAt(org)),
    { isEnough: isSandbox },
  ).catch((error: unknown) => {
    if (error instanceof DomainError) return [];
    throw error;
  });
  const origin = found.find(({ value }) => isSandbox(value));
  return origin && { name: origin.value.name, production: origin.org };
}

/** Registers a sandbox of a registered production org by its name. Throws as `registerByAuthUrl`, and `in_progress`. */
export async function registerSandbox(
  scope: OrgScope,
  { sandboxName, productionUsername }: { sandboxName: string; productionUsername: string },
): Promise<{ org: OrgRow; isNew: boolean }> {
  const { connections } = scope.crm;
  const production = await orgByUsername(scope.reads, productionUsername);
  if (production?.kind !== 'production')
    throw invalidField('productionUsername', `${productionUsername} is not registered as a production org`);
  const found = await connections.callOrg(orgKeyOf(scope, production.id)).findSandbox(sandboxName);
  if (!found.isOk) throw platformFailed(`The production org ${production.username} was asked for the sandbox`, found);
  if (!found.value) throw invalidField('sandboxName', `${production.username} has no sandbox named ${sandboxName}`);
  const { name } = found.value;
  const way = await reached(scope, foundSandbox(production, found.value));
  if (way === 'hidden')
    throw invalidField(
      'sandboxName',
      `${production.username} has no sandbox named ${sandboxName} that this token sees`,
    );
  if (found.value.state === 'copying') throw stillCopying(found.value);
  const { record } = way;
  const sandbox = { name, production };
  const register = (identity: OrgIdentity, instanceUrl: string, access: Registration['access']) =>
    scope.tx(async (tx) => {
      const { isNew } = await registerOrg(tx, { identity, instanceUrl, sandbox, marks: {}, access });
      return { org: await afterwards(tx, identity.username), isNew };
    });
  if (record && !record.isJitRegistration) {
    // A long-lived credential that the sandbox still takes is worth more than codes.
    const own = await connections.callOrg(orgKeyOf(scope, record.id), { isForced: true }).identity();
    if (own.isOk) return register(own.value, record.instanceUrl, { type: 'kept', isJit: false });
    if (own.kind !== 'auth_failed') throw platformRefused(`Sandbox ${name} was asked who it is`, own, 'sandboxName');
  }
  // One that is registered has a refresh token already; another code would cost an approval.
  const orgKey = record?.isJitRegistration ? orgKeyOf(scope, record.id) : orgKeyOf(scope, production.id, name);
  const token = await connections.tokenOf(orgKey, { maxAgeMs: 0, isForced: true });
  if (!token.isOk) throw platformRefused(`Sandbox ${name} was signed in to`, token, 'sandboxName');
  const identity = await connections.callOrg(orgKey, { isForced: true }).identity();
  if (!identity.isOk) throw platformRefused(`Sandbox ${name} was asked who it is`, identity, 'sandboxName');
  const access = record?.isJitRegistration
    ? ({ type: 'kept', isJit: true } as const)
    : ({ type: 'jit', sandbox } as const);
  return register(identity.value, token.value.instanceUrl, access);
}

/** A sandbox that cannot be signed in to yet. */
export const stillCopying = ({ name, status, copyProgress }: { name: string; status: string; copyProgress: number }) =>
  new DomainError('in_progress', `Sandbox ${name} is still being copied: ${copyProgress} % (${status})`, {
    members: { copyStatus: status, copyProgress },
  });

export async function afterwards(reads: OrgScope['reads'], username: string): Promise<OrgRow> {
  const org = await orgByUsername(reads, username);
  if (!org) throw notFound(`Org ${username}`);
  return org;
}
