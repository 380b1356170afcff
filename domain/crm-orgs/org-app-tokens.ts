import { findCredentials } from '../integrations/integrations.mutations.ts';
import { DomainError } from '../shared/errors.ts';
import type { OrgRow } from './crm-orgs.queries.ts';
import { platformFailed } from './org-rules.ts';
import type { OrgScope } from './org-scope.ts';

/** What the platform may expect as audience beside the address of the org itself. */
const AUDIENCES = { production: 'https://login.salesforce.com', other: 'https://test.salesforce.com' };

/**
 * An access token by JWT bearer, with the tenant's integration of kind `crm-app`; its `baseUrl` is a login host to try
 * before others. Throws `invalid_request` without such an integration, `upstream_error`, `upstream_timeout`.
 */
export async function mintByApp(
  { tx, crm }: OrgScope,
  { username, kind, instanceUrl }: OrgRow,
): Promise<{ accessToken: string; instanceUrl: string }> {
  const app = await tx((work) =>
    findCredentials(work, crm.encryption, { kind: 'crm-app', purpose: `JWT of org ${username}` }),
  );
  if (!app)
    throw new DomainError('invalid_request', 'There is no integration of kind crm-app, whose key would sign the JWT');
  const { clientId, privateKey } = app.credentials;
  const audience = kind === 'production' ? AUDIENCES.production : AUDIENCES.other;
  const minted = await crm.platform.mintByJwt({
    loginUrl: instanceUrl,
    audiences: [...new Set([...(app.baseUrl === null ? [] : [new URL(app.baseUrl).origin]), audience, instanceUrl])],
    clientId,
    username,
    privateKey,
  });
  if (!minted.isOk) throw platformFailed(`Org ${username} takes no JWT of the app`, minted);
  return { accessToken: minted.value.accessToken, instanceUrl: minted.value.instanceUrl };
}
