import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { changeOrg, noteTested, type OrgMarks, type OrgPatch, removeOrg } from './crm-orgs.mutations.ts';
import { failureText, platformFailed } from './tokens/org-failure-rules.ts';
import { isSameName } from '../../projects/environments/org-name-rules.ts';
import { notADevHub } from './org-rules.ts';
import { type OrgScope, orgKeyOf } from './org-scope.ts';
import { registeredOrg, tryCredential, assertDevHub, assertMarks, afterwards } from './org-registration.ts';

export interface OrgChange extends OrgMarks {
  metadata?: Record<string, string | null> | undefined;
  cliAuthUrl?: string | undefined;
}

/** Changes an org. Throws `not_found`, `ambiguous`, `invalid_request`, `upstream_error`, `upstream_timeout`. */
export async function updateOrg(scope: OrgScope, name: string, { cliAuthUrl, metadata, ...marks }: OrgChange) {
  assertMarks(marks);
  const org = await registeredOrg(scope, name);
  if (scope.actor.projectIds && (marks.isDefault !== undefined || (org.isDefault && marks.isDevHub === false)))
    throw new DomainError(
      'forbidden',
      'The default dev hub is that of the whole tenant: this token is limited to projects',
    );
  const patch: OrgPatch = { metadata, ...marks };
  if (marks.isDefault) patch.isDevHub = true;
  // The mark that a default needs is verified unless it was before.
  const toVerify = marks.isDevHub ? marks : marks.isDefault && !org.isDevHub ? { isDefault: true } : {};
  if (cliAuthUrl !== undefined) {
    const tried = await tryCredential(scope, cliAuthUrl);
    if (!isSameName(tried.identity.username, org.username))
      throw invalidField('cliAuthUrl', `The auth URL is that of ${tried.identity.username}, not of ${org.username}`);
    await assertDevHub(tried.org, tried.identity, toVerify);
    const { identity, minted, credential } = tried;
    patch.renewal = { identity, instanceUrl: minted.instanceUrl, minted, credential, encryption: scope.crm.encryption };
  } else if (toVerify.isDevHub || toVerify.isDefault) {
    const calls = scope.crm.connections.callOrg(orgKeyOf(scope, org.id));
    const answer = await calls.isDevHub();
    if (!answer.isOk) throw platformFailed(`Org ${org.username} was asked whether it is a dev hub`, answer);
    if (!answer.value) throw notADevHub(org, marks.isDevHub ? 'isDevHub' : 'isDefault');
  }
  return scope.tx(async (tx) => {
    await changeOrg(tx, org.id, patch);
    return afterwards(tx, org.username);
  });
}

/**
 * Removes an org, at the platform first when its credential is to be revoked. Throws `not_found`, `ambiguous`; a failure
 * to revoke is `upstream_error` or `upstream_timeout`, and leaves the org.
 */
export async function deleteOrg(scope: OrgScope, name: string, { isRevoked }: { isRevoked: boolean }): Promise<void> {
  const org = await registeredOrg(scope, name);
  if (isRevoked) {
    const answer = await scope.crm.connections.revoke(orgKeyOf(scope, org.id));
    if (!answer.isOk) throw platformFailed(`The credential of org ${org.username} was to be revoked`, answer);
  }
  await scope.tx((tx) => removeOrg(tx, org.id));
}

export interface ConnectionTest {
  isValid: boolean;
  username: string;
  orgId: string;
  organizationType: string;
  instanceName: string | null;
  error: string | null;
  hint: string | null;
}

/** Asks an org who it is and notes what it answers, or that it does not. Throws `not_found`, `ambiguous`. */
export async function testConnection(scope: OrgScope, name: string): Promise<ConnectionTest> {
  const org = await registeredOrg(scope, name);
  const identity = await scope.crm.connections.callOrg(orgKeyOf(scope, org.id), { isForced: true }).identity();
  if (!identity.isOk) {
    await scope.tx((tx) => noteTested(tx, org.id, { failure: identity }));
    const { username, platformOrgId: orgId, organizationType, instanceName } = org;
    const error = failureText(`Org ${username}`, identity);
    return { isValid: false, username, orgId, organizationType, instanceName, error, hint: identity.hint };
  }
  const { orgId, organizationType, instanceName } = identity.value;
  await scope.tx((tx) => noteTested(tx, org.id, { identity: identity.value }));
  return { isValid: true, username: org.username, orgId, organizationType, instanceName, error: null, hint: null };
}
