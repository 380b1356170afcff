import { formatAuthUrl } from '../../crm/auth-url-rules.ts';
import { projectInRequest } from '../../../projects/projects/projects.queries.ts';
import { DomainError, invalidField, notFound } from '../../../kernel/shared/errors.ts';
import { type OrgRow } from '../crm-orgs.queries.ts';
import { defaultDevHub, firstDevHub } from '../dev-hubs.queries.ts';
import { accessOf, accessOfRegistered, type HandedToken, noteRead, rowIdOf } from './org-access.ts';
import { mintByApp } from './org-app-tokens.ts';
import { platformFailed } from './org-failure-rules.ts';
import { mayReadCredentials } from '../org-rules.ts';
import { type OrgScope, orgKeyOf } from '../org-scope.ts';
import { findSandboxTarget, findTarget } from '../org-targets.ts';

export const AUTH_TYPES = ['accessToken', 'cliAuthUrl', 'jwt', 'none'] as const;
export type AuthType = (typeof AUTH_TYPES)[number];

export type OrgCredentials =
  | { type: 'accessToken' | 'jwt'; accessToken: string; instanceUrl: string }
  | { type: 'cliAuthUrl'; cliAuthUrl: string };

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
      const credential = await scope.crm.connections.credentialOf(orgKeyOf(scope, org.id));
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
