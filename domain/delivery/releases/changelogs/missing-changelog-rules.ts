/** Why changes are not known. */
export const MISSING_REASONS = [
  'fetching',
  'unknown_commit',
  'unknown_package',
  'unknown_version',
  'no_remote',
  'unreachable',
] as const;

export interface MissingChangelog {
  reason: (typeof MISSING_REASONS)[number];
  /** For people. */
  message: string;
  /** When the last fetch of the repository began. */
  lastTriedAt: string | null;
}

/** What of a mirror decides why something is not known. */
export interface MirrorFacts {
  hasRemote: boolean;
  lastTriedAt: string | null;
  /** A fetch is requested or under way. */
  isFetching: boolean;
  freshness: { fetchedAt: string | null; error: string | null };
}

const FULL_ID = /\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b/i;
const FETCHING = 'the repository is being fetched';

/** What keeps everything about a repository from being known; undefined once it was fetched. */
export function whyNothingIsKnown(mirror: MirrorFacts): MissingChangelog | undefined {
  const { hasRemote, lastTriedAt, freshness } = mirror;
  if (freshness.fetchedAt !== null) return undefined;
  if (!hasRemote) return { reason: 'no_remote', message: 'The project has no remote repository', lastTriedAt };
  return freshness.error === null
    ? { reason: 'fetching', message: 'The repository is being fetched for the first time', lastTriedAt }
    : { reason: 'unreachable', message: `The repository could not be fetched: ${freshness.error}`, lastTriedAt };
}

/** Why a commit is not known. @param what names it, as the beginning of a sentence. */
export function whyCommitIsUnknown(what: string, mirror: MirrorFacts): MissingChangelog {
  const nothing = whyNothingIsKnown(mirror);
  if (nothing) return nothing;
  const { hasRemote, lastTriedAt, isFetching, freshness } = mirror;
  const lacking = `${what} is not in the repository`;
  if (!hasRemote)
    return {
      reason: 'no_remote',
      message: `${lacking} as it was fetched, and the project has no remote now`,
      lastTriedAt,
    };
  if (freshness.error !== null)
    return {
      reason: 'unreachable',
      message: `${lacking} as far as it could be fetched: ${freshness.error}`,
      lastTriedAt,
    };
  if (isFetching) return { reason: 'fetching', message: `${lacking} yet: ${FETCHING}`, lastTriedAt };
  const why = FULL_ID.test(what)
    ? 'it was never pushed, or history was rewritten'
    : 'it was never pushed, history was rewritten, or its abbreviated id is ambiguous';
  return { reason: 'unknown_commit', message: `${lacking}: ${why}`, lastTriedAt };
}

/** Says that the repository is not known to have a package. */
export const unknownPackage = (name: string, { lastTriedAt }: MirrorFacts): MissingChangelog => ({
  reason: 'unknown_package',
  message: `The path of the package ${name} is not known: neither sfdx-project.json nor configuration.packagePaths names it`,
  lastTriedAt,
});

/** Says that the repository is not known to have some packages. */
export const unknownPackages = (names: readonly string[], mirror: MirrorFacts): MissingChangelog => {
  const [name = '', ...more] = names;
  if (more.length === 0) return unknownPackage(name, mirror);
  const message = `The paths of the packages ${names.join(', ')} are not known: neither sfdx-project.json nor configuration.packagePaths names them`;
  return { ...unknownPackage(name, mirror), message };
};

/** Says that a version was deployed from another commit than before, and that this commit is not known any more. */
export const unknownContent = (name: string, version: string, { lastTriedAt }: MirrorFacts): MissingChangelog => ({
  reason: 'unknown_commit',
  message: `${name} ${version} was deployed from another commit, which is not known any more`,
  lastTriedAt,
});

/** Says that nothing gives the commit of a version. */
export const unknownVersion = (name: string, version: string, { lastTriedAt }: MirrorFacts): MissingChangelog => ({
  reason: 'unknown_version',
  message: `Neither a tag nor a release candidate gives the commit of ${name} ${version}`,
  lastTriedAt,
});
