import { orgByUsername, type OrgRow } from '../crm-orgs.queries.ts';
import { accessOf, authUrlOfScratch, noteRead, rowIdOf } from '../tokens/org-access.ts';
import { doorOf } from './org-front-doors.ts';
import type { OrgScope } from '../org-scope.ts';
import { findSandboxTarget, findScratchTarget, parentOrg } from '../org-targets.ts';

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
  const frontDoorUrl = await doorOf(scope, { target, username: first.username, calls });
  // Opening the front door renews a token that the sandbox no longer takes.
  const { token } = await accessOf(scope, target);
  await noteRead(scope, rowIdOf(target), token.username, 'access token');
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

/** Signs in to a scratch org by the auth URL that its dev hub stores. Throws as `findScratchTarget` and `accessOf`. */
export async function authenticateScratch(
  scope: OrgScope,
  { scratchOrgUsername: name, productionUsername }: ScratchOrder,
) {
  const parent =
    productionUsername === undefined
      ? undefined
      : await parentOrg(scope, { field: 'productionUsername', name: productionUsername, kind: 'devhub' });
  const target = await findScratchTarget(scope, { name, parent });
  const { calls } = await accessOf(scope, target);
  const frontDoorUrl = await doorOf(scope, { target, username: target.scratch.username, calls });
  const { token } = await accessOf(scope, target);
  const cliAuthUrl = await authUrlOfScratch(scope, target);
  await noteRead(scope, target.devHub.id, token.username, 'access token and auth URL');
  const { accessToken, instanceUrl, orgId, username: scratchOrgUsername } = token;
  return {
    scratchOrgUsername,
    accessToken,
    instanceUrl,
    frontDoorUrl,
    cliAuthUrl,
    orgId,
    devhubOrg: shownParent(target.devHub),
  };
}
