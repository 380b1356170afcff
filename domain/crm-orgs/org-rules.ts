import type { CrmFailure } from '../crm/crm-platform.port.ts';
import type { Role } from '../shared/actor.ts';
import { DomainError, type ErrorExtras } from '../shared/errors.ts';

export type OrgKind = 'production' | 'sandbox' | 'scratch';

/**
 * - `auth_failed`: the org refused its credential; nothing calls it until people renew or test it
 * - `unknown`: never asked
 */
export const ORG_HEALTH_STATUSES = ['ok', 'auth_failed', 'unreachable', 'limited', 'unknown'] as const;
export type OrgHealthStatus = (typeof ORG_HEALTH_STATUSES)[number];

interface NamedOrg {
  username: string;
  sandboxName: string | null;
  parentProductionUsername: string | null;
}

/** Sandboxes of one name in several production orgs. */
export const ambiguousSandbox = (sandboxName: string, candidates: readonly Record<string, unknown>[]): DomainError =>
  new DomainError('ambiguous', `Several production orgs have a sandbox named ${sandboxName}: name the production org`, {
    members: { candidates },
  });

/**
 * The org that a name means, of those which have it as username or sandbox name: a username comes before sandbox names.
 * Throws `ambiguous` for a sandbox name of several.
 * @param production only sandboxes of this production org, by its username.
 */
export function answeringOrg<Org extends NamedOrg>(
  orgs: readonly Org[],
  name: string,
  production?: string,
): Org | undefined {
  const byUsername = orgs.find(({ username }) => isSameName(username, name));
  if (byUsername) return byUsername;
  const sandboxes = orgs.filter(
    ({ parentProductionUsername: parent }) => production === undefined || (parent && isSameName(parent, production)),
  );
  if (sandboxes.length < 2) return sandboxes[0];
  throw ambiguousSandbox(
    name,
    sandboxes.map(({ username, parentProductionUsername }) => ({
      username,
      productionUsername: parentProductionUsername,
    })),
  );
}

/** Usernames and names of sandboxes are compared without regard to case. */
export const isSameName = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();

/** Names of sandboxes are up to 10 letters and digits; usernames look like e-mail addresses. */
export const mayBeSandboxName = (name: string): boolean => /^[A-Za-z0-9]{1,10}$/.test(name);
export const mayBeUsername = (name: string): boolean => name.includes('@');

/** Who gets credentials of orgs. */
export const mayReadCredentials = (role: Role): boolean => role !== 'member';

/** Who may open the front door: that of a sandbox or scratch org everybody. */
export const mayOpenFrontDoor = (role: Role, { kind, isDevHub }: { kind: OrgKind; isDevHub: boolean }): boolean =>
  mayReadCredentials(role) || (kind !== 'production' && !isDevHub);

const HEALTH: Record<CrmFailure['kind'], OrgHealthStatus> = {
  auth_failed: 'auth_failed',
  limited: 'limited',
  unreachable: 'unreachable',
  timeout: 'unreachable',
  refused: 'unreachable',
  not_found: 'unreachable',
  malformed: 'unreachable',
};

/** The health of an org after a call. @param failure undefined when it answered. */
export const healthAfter = (failure: CrmFailure | undefined): OrgHealthStatus =>
  failure ? HEALTH[failure.kind] : 'ok';

/** A failure of the platform as a sentence for people. @param what begins it: `Org ci@acme.example`. */
export const failureText = (what: string, { message, hint }: CrmFailure): string =>
  `${what}: ${/[.!?]$/.test(message) ? message : `${message}.`} ${hint}`;

const extrasOf = ({ code, hint }: CrmFailure): ErrorExtras => ({ members: { hint, platformCode: code } });

/** The platform did not do what a request needs: `upstream_error`, or `upstream_timeout`. */
export const platformFailed = (what: string, failure: CrmFailure): DomainError =>
  new DomainError(
    failure.kind === 'timeout' ? 'upstream_timeout' : 'upstream_error',
    failureText(what, failure),
    extrasOf(failure),
  );

const IS_REFUSAL: Record<CrmFailure['kind'], boolean> = {
  auth_failed: true,
  refused: true,
  not_found: true,
  limited: false,
  unreachable: false,
  timeout: false,
  malformed: false,
};

/** The same where a credential or name is tried that the request gave: a refusal is `invalid_request` of that field. */
export const platformRefused = (what: string, failure: CrmFailure, field: string): DomainError =>
  IS_REFUSAL[failure.kind]
    ? new DomainError('invalid_request', failureText(what, failure), {
        ...extrasOf(failure),
        fields: [{ pointer: field, detail: failureText(what, failure) }],
      })
    : platformFailed(what, failure);

/** Most pairs of metadata of an org. */
export const METADATA_MAX = 50;

/** Metadata after a patch; null takes a pair out. */
export const mergedMetadata = (
  current: Record<string, string>,
  patch: Record<string, string | null>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ...current, ...patch }).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  );

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

/** Pairs as `k1=v1,k2=v2` or as a JSON object of strings; undefined for anything else. */
export function parseMetadataFilter(text: string): Record<string, string> | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) {
    let parsed: object;
    try {
      parsed = JSON.parse(trimmed) as object;
    } catch {
      return undefined;
    }
    const pairs = Object.entries(parsed) as [string, unknown][];
    return pairs.every((pair): pair is [string, string] => typeof pair[1] === 'string')
      ? Object.fromEntries(pairs)
      : undefined;
  }
  const pairs = trimmed.split(',').map((pair) => pair.split(/=(.*)/s).map((part) => part.trim()));
  return pairs.every(([key = '', value]) => key !== '' && value !== undefined)
    ? Object.fromEntries(pairs.map(([key, value]) => [key, value]))
    : undefined;
}
