import { DomainError, versionConflict } from '../kernel/shared/errors.ts';

/** What must hold for a write to happen. */
export interface Preconditions {
  /** The version that the body names. */
  version?: number | undefined;
  /** The version that `If-Match` names. */
  ifMatch?: number | undefined;
  /** `If-None-Match: *`: there must be no document. */
  mustBeNew?: boolean;
}

/** No document has it. */
const NEVER = 0;

/** The version that a document must have to be written; null: there must be none. */
export function expectedVersion({ version, ifMatch, mustBeNew = false }: Preconditions): number | null {
  const named = [version, ifMatch].filter((each) => each !== undefined);
  const [first = null] = named;
  return (mustBeNew && named.length > 0) || named.some((each) => each !== first) ? NEVER : first;
}

/** Why a write is refused; headers go before the body. @param currentVersion null: there is no document. */
export function writeConflict(
  { version, ifMatch, mustBeNew = false }: Preconditions,
  currentVersion: number | null,
): DomainError {
  const members = { currentVersion };
  if (mustBeNew && currentVersion !== null)
    return new DomainError('precondition_failed', `There is a document already; its version is ${currentVersion}`, {
      members,
    });
  if (ifMatch !== undefined && ifMatch !== currentVersion) {
    const state = currentVersion === null ? 'There is no such document' : `The document has version ${currentVersion}`;
    return new DomainError('precondition_failed', `${state}; If-Match names version ${ifMatch}`, { members });
  }
  if (currentVersion === null)
    return new DomainError('version_conflict', 'There is no such document; a new one is written without a version', {
      members,
    });
  if (version === undefined) {
    return new DomainError(
      'version_conflict',
      `There is a document already; to update it, name its current version, ${currentVersion}`,
      { members },
    );
  }
  return versionConflict('The document', currentVersion);
}
