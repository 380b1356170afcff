import { escapePointer } from './errors.ts';

/** What may be a mistake although the request is valid, by code. */
export const WARNINGS = {
  unknown_default_branch: 'the remote has no branch of the name of `defaultBranch`',
  unknown_commit: 'the copy of the remote has no such commit, or the abbreviated id is ambiguous',
  versions_of_other_commit: 'another release candidate holds the same versions from another commit',
  package_of_other_domain: 'the configuration of the project assigns the package to other domains only',
  unknown_approver: 'an approver is neither a member of the tenant nor a team with members',
  too_few_approvers: 'fewer people may approve than `minApprovals` asks for',
  unknown_event: 'the service emits no event of that name; payloads can still be queued for it by name',
  unknown_path: 'no event to which the webhook subscribes has what a filter or the body template names',
  unreachable_remote: 'the remote could not be read; the message says why',
  package_path_matches_nothing: 'no commit has ever changed a file at the path of the package',
  commit_not_on_branch: 'the commit is not on the branch, as the remote was when it was fetched',
  unverified_branch:
    'nothing of the repository was fetched that could confirm the branch of the release candidate; what it says was believed',
  policy_violation: 'the deployment broke a policy of its environment; it is recorded all the same',
  no_builder:
    'nothing here makes orgs for the pool: those who wait for one wait until somebody registers or releases one',
  headers_dropped: 'a header with a hidden value was not kept for the new URL of the webhook',
} as const;

/** The most warnings of one kind in a reply. */
export const WARNINGS_MAX = 20;

export type WarningCode = keyof typeof WARNINGS;

/** Something valid that is probably not meant. */
export interface Warning {
  code: WarningCode;
  /** For people. */
  message: string;
  /** JSON pointer into the resource as replies show it: `#/configuration/packagePaths/core`. */
  pointer: string;
}

/** @param path of the member in the resource. */
export const warning = (code: WarningCode, path: readonly (string | number)[], message: string): Warning => ({
  code,
  message,
  pointer: ['#', ...path.map((segment) => escapePointer(String(segment)))].join('/'),
});
