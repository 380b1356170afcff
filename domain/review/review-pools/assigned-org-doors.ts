import { formatAuthUrl } from '../../orgs/crm/auth-url-rules.ts';
import type { CrmAnswer, FrontDoor } from '../../orgs/crm/crm-platform.port.ts';
import { permittedAuthUrl } from '../../orgs/crm/org-origin.ts';
import { failure } from '../../orgs/crm/platform-error-rules.ts';
import { reviewInstanceContext } from './review-instances.mutations.ts';
import { type AssignedOrg, assignedOrgs, replaceCredential } from './review-instances.queries.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { isSameName } from '../../projects/environments/org-name-rules.ts';
import { mayOpenFrontDoor } from '../../orgs/crm-orgs/org-rules.ts';
import type { AssignedDoor, OrgScope } from '../../orgs/crm-orgs/org-scope.ts';

/**
 * Opens the front door of an org that is assigned for a review and not registered, with the auth URL that its builder
 * gave. Undefined: no such org has one. Throws `forbidden` for members at production orgs.
 */
export async function openAssignedOrg(
  scope: OrgScope,
  name: string,
  path: string | undefined,
): Promise<AssignedDoor | undefined> {
  const org = await assignedOrg(scope, name);
  if (!org) return undefined;
  let door = await doorWith(scope, org, path);
  if (!door.isOk && door.kind === 'auth_failed') {
    // Somebody else may have replaced the refresh token meanwhile.
    const now = await assignedOrg(scope, name);
    if (now && now.cliAuthUrl !== org.cliAuthUrl) door = await doorWith(scope, now, path);
  }
  return { instanceId: org.id, username: org.username, door };
}

async function assignedOrg({ reads }: OrgScope, name: string): Promise<AssignedOrg | undefined> {
  const [org] = await assignedOrgs(reads, name);
  return org;
}

async function doorWith(
  scope: OrgScope,
  { id, username, cliAuthUrl }: AssignedOrg,
  path: string | undefined,
): Promise<CrmAnswer<FrontDoor>> {
  const { platform, connections, encryption, outbound } = scope.crm;
  const parsed = permittedAuthUrl(encryption.decrypt(cliAuthUrl, reviewInstanceContext(id)), outbound);
  if (!parsed.isOk) return failure('refused', null, `The auth URL ${parsed.reason}.`, HINT);
  const minted = await platform.refresh(parsed.authUrl);
  if (!minted.isOk) return minted;
  const { refreshToken } = minted.value;
  if (refreshToken !== null && refreshToken !== parsed.authUrl.refreshToken)
    await keepRotated(scope, { id, cliAuthUrl }, formatAuthUrl({ ...parsed.authUrl, refreshToken }));
  const calls = connections.callWith(minted.value);
  const identity = await calls.identity();
  if (!identity.isOk) return identity;
  if (!isSameName(identity.value.username, username))
    return failure('refused', null, `The auth URL is that of ${identity.value.username}.`, HINT);
  if (!mayOpenFrontDoor(scope.actor.role, { kind: identity.value.kind, isDevHub: false }))
    throw new DomainError('forbidden', 'Forbidden - Requires role: owner, application');
  return calls.frontDoor(path);
}

const HINT = 'Have the builder of the pool register the org with its auth URL again.';

/** The refresh token that was used is void from now on. */
const keepRotated = (
  { tx, crm }: OrgScope,
  { id, cliAuthUrl: before }: Pick<AssignedOrg, 'id' | 'cliAuthUrl'>,
  authUrl: string,
): Promise<void> => {
  const after = crm.encryption.encrypt(authUrl, reviewInstanceContext(id));
  return tx((work) => replaceCredential(work, id, { before, after }));
};
