import type { CrmAnswer, MintedToken } from '../../crm/crm-platform.port.ts';
import { isSameOrgId } from '../../crm/org-id-rules.ts';
import { failure } from '../../crm/platform-error-rules.ts';
import { findCredentials } from '../../../projects/integrations/integrations.mutations.ts';
import { DomainError } from '../../../kernel/shared/errors.ts';
import type { OrgRow } from '../crm-orgs.queries.ts';
import { platformFailed } from './org-failure-rules.ts';
import type { OrgScope } from '../org-scope.ts';

/** The platform's own login hosts. */
const LOGIN_HOSTS = { production: 'https://login.salesforce.com', other: 'https://test.salesforce.com' };

const OF_ANOTHER_ORG = failure(
  'refused',
  'OTHER_ORG',
  'The token that the app was given is for another org.',
  'Register the org again, with the address that it has now.',
);

/**
 * An access token by JWT bearer, with the tenant's integration of kind `crm-app`. A JWT is for one host and sent to that
 * host alone, because whoever receives one may redeem it where it is meant for; and the token must be for the org that is
 * registered, because its username is what the org says of itself. Hosts: the `baseUrl` of the integration, the org, the
 * platform's. Throws `invalid_request` without such an integration, `upstream_error`, `upstream_timeout`.
 */
export async function mintByApp(
  { tx, crm }: OrgScope,
  { username, kind, instanceUrl, platformOrgId }: OrgRow,
): Promise<{ accessToken: string; instanceUrl: string }> {
  const app = await tx((work) =>
    findCredentials(work, crm.encryption, { kind: 'crm-app', purpose: `JWT of org ${username}` }),
  );
  if (!app)
    throw new DomainError('invalid_request', 'There is no integration of kind crm-app, whose key would sign the JWT');
  const { clientId, privateKey } = app.credentials;
  const hosts = new Set([
    ...(app.baseUrl === null ? [] : [hostOf(app.baseUrl, crm.outbound)]),
    instanceUrl,
    kind === 'production' ? LOGIN_HOSTS.production : LOGIN_HOSTS.other,
  ]);
  let minted: CrmAnswer<MintedToken> = OF_ANOTHER_ORG;
  for (const host of hosts) {
    minted = await crm.platform.mintByJwt({ loginUrl: host, clientId, username, privateKey });
    if (minted.isOk || minted.kind !== 'auth_failed') break;
  }
  if (!minted.isOk) throw platformFailed(`Org ${username} takes no JWT of the app`, minted);
  const { accessToken, instanceUrl: given, orgId } = minted.value;
  if (given !== instanceUrl || orgId === null || !isSameOrgId(orgId, platformOrgId))
    throw platformFailed(`Org ${username} gives no token by JWT`, OF_ANOTHER_ORG);
  return { accessToken, instanceUrl };
}

/** The origin of an address, or the whole of one that is a mock workspace. */
function hostOf(baseUrl: string, { findOwn }: OrgScope['crm']['outbound']): string {
  return findOwn?.(baseUrl) ? baseUrl.replace(/\/$/, '') : new URL(baseUrl).origin;
}
