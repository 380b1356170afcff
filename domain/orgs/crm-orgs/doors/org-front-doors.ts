import { isOwnPath } from '../../../identity/auth/own-path-rules.ts';
import type { CrmAnswer, CrmFailure, CrmOrg, FrontDoor } from '../../crm/crm-platform.port.ts';
import { DomainError, invalidField } from '../../../kernel/shared/errors.ts';
import { orgByUsername } from '../crm-orgs.queries.ts';
import { accessOf, rowIdOf } from '../tokens/org-access.ts';
import { platformFailed } from '../tokens/org-failure-rules.ts';
import { mayOpenFrontDoor } from '../org-rules.ts';
import { type OrgScope, orgKeyOf } from '../org-scope.ts';
import { findTarget, type OrgTarget, parentOrg } from '../org-targets.ts';

interface Door {
  target: OrgTarget;
  username: string;
  calls: CrmOrg;
  path?: string | undefined;
}

/** The address of a front door, with an entry in the audit trail. Throws `upstream_error`, `upstream_timeout`. */
export async function doorOf(scope: OrgScope, { target, username, calls, path }: Door): Promise<string> {
  return openedDoor(scope, { rowId: rowIdOf(target), username, door: await calls.frontDoor(path), path });
}

interface OpenedDoor {
  /** Id of the row of the org, registered or of a pool, or of the org through which it was reached. */
  rowId: string;
  username: string;
  door: CrmAnswer<FrontDoor>;
  path: string | undefined;
}

const doorFailed = (username: string, failure: CrmFailure) =>
  platformFailed(`Org ${username} opens no front door`, failure);

async function openedDoor(
  { actor, requestId, crm }: OrgScope,
  { rowId: orgId, username, door, path }: OpenedDoor,
): Promise<string> {
  if (!door.isOk) throw doorFailed(username, door);
  await crm.noteAccess({
    actor,
    requestId,
    action: 'front_door_opened',
    orgId,
    summary: `Front door of org ${username} opened`,
    ...(path !== undefined && { after: { path } }),
  });
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
 * The address of a front door, a secret that opens a session. An org that is assigned for a review is opened with the
 * credential that its pool has, unless it is registered. Throws `invalid_request` for a path that is not one within
 * the org, `forbidden` for members at production orgs and dev hubs, and as `findTarget`.
 */
export async function openFrontDoor(scope: OrgScope, { target: name, prodOrg, path }: FrontDoorOrder): Promise<string> {
  if (path !== undefined && !isOwnPath(path, ''))
    throw invalidField('path', 'must be a path within the org that begins with one slash');
  const parent =
    prodOrg === undefined ? undefined : await parentOrg(scope, { field: 'prodOrg', name: prodOrg, kind: 'production' });
  const isRegistered = (await orgByUsername(scope.reads, name)) !== undefined;
  const assigned = isRegistered || parent ? undefined : await scope.crm.openAssignedOrg(scope, name, path);
  const opened = assigned && { rowId: assigned.instanceId, username: assigned.username, door: assigned.door, path };
  if (opened?.door.isOk) return openedDoor(scope, opened);
  const target = await findTarget(scope, { name, parent, parentParameter: 'prodOrg' }).catch((error: unknown) => {
    // What is wrong with the credential of its pool says more than that nobody else knows the org.
    throw opened && !opened.door.isOk ? doorFailed(opened.username, opened.door) : error;
  });
  if (target.type === 'registered' && !mayOpenFrontDoor(scope.actor.role, target.org))
    throw new DomainError('forbidden', 'Forbidden - Requires role: owner, application');
  const [username, calls] =
    target.type === 'registered'
      ? [target.org.username, scope.crm.connections.callOrg(orgKeyOf(scope, target.org.id))]
      : await accessOf(scope, target).then((access) => [access.token.username, access.calls] as const);
  return doorOf(scope, { target, username, calls, path });
}
