import type { CrmAnswer, CrmPlatform, FrontDoor } from '../crm/crm-platform.port.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { HostAddresses } from '../../mocks/serving/own-mocks.ts';
import { type Actor, tenantOf } from '../../kernel/shared/actor.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import type { NoteAccess } from './doors/access-notes.ts';
import type { OrgConnections } from './tokens/org-connections.ts';
import type { OrgKey } from './org-keys.ts';

/** What work on orgs needs beside the database; made once per process. */
export interface CrmParts {
  platform: CrmPlatform;
  connections: OrgConnections;
  /** The addresses that orgs may have. */
  outbound: HostAddresses;
  encryption: Encryption;
}

/** One request about orgs. The platform is called between units of work, never inside one. */
export interface OrgScope {
  actor: Actor;
  requestId: string;
  tx: UnitOfWork;
  reads: Reads;
  crm: CrmParts & { noteAccess: NoteAccess; openAssignedOrg: OpenAssignedOrg };
}

/** A front door of an org that was opened with the credential of its pool. */
export interface AssignedDoor {
  instanceId: string;
  username: string;
  door: CrmAnswer<FrontDoor>;
}

/**
 * Opens the front door of an org that is assigned for a review and not registered. Undefined: no such org has a credential.
 * Throws `forbidden` for members at production orgs.
 */
export type OpenAssignedOrg = (
  scope: OrgScope,
  name: string,
  path: string | undefined,
) => Promise<AssignedDoor | undefined>;

export const orgKeyOf = ({ actor }: Pick<OrgScope, 'actor'>, orgId: string, sandboxName?: string): OrgKey => ({
  ...tenantOf(actor),
  orgId,
  ...(sandboxName !== undefined && { sandboxName }),
});
