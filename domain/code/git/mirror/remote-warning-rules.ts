import { type Warning, warning, WARNINGS_MAX } from '../../../kernel/shared/warning-rules.ts';
import { didYouMean } from '../../../kernel/text/suggestion-rules.ts';

/** What the last fetches of its remote found. */
export interface RemoteFacts {
  /** Why the last one failed. */
  error: string | null;
  /** Null: none succeeded, and nothing else is known. */
  fetchedAt: string | null;
  hasDefaultBranch: boolean;
  /** Looked up if the default branch is missing. */
  branches: readonly string[];
  /** Packages of which no commit has ever changed a file, with their paths. */
  emptyPackages: readonly { name: string; path: string }[];
  /** They are those of the repository's `sfdx-project.json`, not of `packagePaths`. */
  areFromManifest: boolean;
}

/** What a project says of its repository and the remote does not confirm. */
export function remoteWarnings(defaultBranch: string, facts: RemoteFacts): Warning[] {
  const { error, fetchedAt, hasDefaultBranch, branches, emptyPackages, areFromManifest } = facts;
  const unreachable = error === null ? [] : [warning('unreachable_remote', ['remoteUrl'], error)];
  if (fetchedAt === null) return unreachable;
  const message = `The remote has no branch ${defaultBranch}${didYouMean(defaultBranch, branches)}`;
  return [
    ...unreachable,
    ...(hasDefaultBranch ? [] : [warning('unknown_default_branch', ['defaultBranch'], message)]),
    ...emptyPackages
      .slice(0, WARNINGS_MAX)
      .map(({ name, path }) =>
        warning(
          'package_path_matches_nothing',
          areFromManifest ? ['remoteUrl'] : ['configuration', 'packagePaths', name],
          `No commit of the remote has changed a file at ${path}${areFromManifest ? `, where sfdx-project.json has ${name}` : ''}`,
        ),
      ),
  ];
}
