import type { Role } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';

export type OrgKind = 'production' | 'sandbox' | 'scratch';

/** Who gets credentials of orgs. */
export const mayReadCredentials = (role: Role): boolean => role !== 'member';

/** Who may open the front door: that of a sandbox or scratch org everybody. */
export const mayOpenFrontDoor = (role: Role, { kind, isDevHub }: { kind: OrgKind; isDevHub: boolean }): boolean =>
  mayReadCredentials(role) || (kind !== 'production' && !isDevHub);

/** The kind of an org as webhooks name it: production, devhub, sandbox or scratch. */
export const orgTypeOf = ({ kind, isDevHub }: { kind: OrgKind; isDevHub: boolean }): string =>
  isDevHub ? 'devhub' : kind;

/** A mark that only a dev hub may have; the detail names what the org is. */
export const notADevHub = (
  { username, organizationType }: { username: string; organizationType: string },
  field: 'isDevHub' | 'isDefault',
): DomainError =>
  new DomainError('invalid_request', `Org ${username} is not a dev hub: its type is ${organizationType}`, {
    fields: [{ pointer: field, detail: `the org is not a dev hub but of type ${organizationType}` }],
  });

/** Path of the front door of an org, behind the service's base URL. */
export const orgAddress = (username: string): string =>
  `/api/auth/crm/frontdoor?${new URLSearchParams({ target: username })}`;
