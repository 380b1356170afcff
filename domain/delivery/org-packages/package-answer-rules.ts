import type { CrmFailure } from '../../orgs/crm/crm-platform.port.ts';

/** Why a version is not installed whose key nobody has stored. */
export const NO_KEY = 'it needs an installation key, and the integration package-keys has none for it';
const WRONG_KEY = 'the org does not accept the key that the integration package-keys has for it';

/** Statuses come as `PACKAGE_UNAVAILABLE` from the interface, and are documented as `PackageUnavailable`. */
const plain = (status: string): string => status.replaceAll('_', '').toUpperCase();

/** By what the org says of a version that it does not take. The set is open: of others the installation says more. */
const REFUSALS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    BETA_INSTALL_INTO_PRODUCTION_ORG: 'it is a beta, which production orgs do not take: promote it',
    CANNOT_INSTALL_EARLIER_VERSION: 'the org has a later version, over which an earlier one is never installed',
    CANNOT_UPGRADE_BETA: 'the org has a beta of it, which cannot be upgraded: uninstall that first',
    CANNOT_UPGRADE_UNMANAGED: 'the org has an unmanaged version of it, which cannot be upgraded',
    DEPRECATED_INSTALL_PACKAGE: 'the version is deprecated',
    EXTENSIONS_ON_LOCAL_PACKAGES: 'it extends a package that is developed in the org',
    PACKAGE_HAS_IN_DEV_EXTENSIONS: 'an extension of it is developed in the org',
    INSTALL_INTO_DEV_ORG: 'the org is the one in which it is developed',
    NAMESPACE_COLLISION: 'the org has its namespace already',
    NO_ACCESS: "the org's user may not install it: it needs Download AppExchange Packages",
    PACKAGING_NO_ACCESS: "the org's user may not install it: it needs Download AppExchange Packages",
    PACKAGING_DISABLED: 'packages are switched off in the org',
  }).map(([status, text]) => [plain(status), text]),
);

const WAITING = ['PACKAGE_UNAVAILABLE', 'UNINSTALL_IN_PROGRESS'].map(plain);

/** What the org says of a version now. */
export type Validation = { is: 'good' } | { is: 'waiting' } | { is: 'refused'; reason: string };

export function validationOf(status: string): Validation {
  const reason = REFUSALS.get(plain(status));
  if (reason !== undefined) return { is: 'refused', reason: `${reason} (${status})` };
  return { is: WAITING.some((waiting) => plain(status).startsWith(waiting)) ? 'waiting' : 'good' };
}

/** Why a version is not shown to who has no key, or a wrong one; undefined: the failure is about something else. */
export function keyProblem({ code, message }: Pick<CrmFailure, 'code' | 'message'>): string | undefined {
  if (code === 'INSTALL_KEY_INVALID' || /invalid installation ?key/i.test(message)) return WRONG_KEY;
  return code === 'INSTALL_KEY_REQUIRED' ? NO_KEY : undefined;
}

const LOCK_CODES: ReadonlySet<string> = new Set(['ALREADY_IN_PROCESS', 'UNABLE_TO_LOCK_ROW']);
const LOCK_TEXT =
  /setup has already been locked|unable to (?:obtain exclusive access|lock row)|background job is being executed|sharing (?:rule )?recalculation/i;

/** Whether something else changes the set-up of the org, for which one waits. */
export const isLocked = ({ code, message }: Pick<CrmFailure, 'code' | 'message'>): boolean =>
  (code !== null && LOCK_CODES.has(code)) || LOCK_TEXT.test(message);

/** What passes when it is tried again (SFDO-Tooling/CumulusCI, cumulusci/salesforce_api/package_install.py). */
const PASSING_TEXT = /not yet available|doesn't yet exist or has been deleted|invalid cross reference id/i;

/** Whether an installation that failed for these reasons may succeed when it is asked for again. */
export const mayPass = (errors: readonly string[]): boolean =>
  errors.length > 0 && errors.every((text) => PASSING_TEXT.test(text) || LOCK_TEXT.test(text));
