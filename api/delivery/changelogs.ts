import { z } from 'zod';
import { MISSING_REASONS } from '../../domain/delivery/releases/changelogs/missing-changelog-rules.ts';
import { Timestamp } from '../http/parameters.ts';

export const RepositoryFreshness = z
  .object({ fetchedAt: Timestamp.nullable(), isStale: z.boolean(), error: z.string().nullable() })
  .meta({
    id: 'RepositoryFreshness',
    description: 'When the repository was last fetched; stale: never fetched, or the last fetch failed',
  });

const commit = {
  sha: z.string(),
  message: z.string().meta({ description: 'First line of the message' }),
  authorName: z.string(),
  authorEmail: z.string(),
  authoredAt: Timestamp,
  committedAt: Timestamp,
  isMerge: z.boolean(),
  workItems: z.array(z.string()),
  pullRequests: z.array(z.int()),
};
export const Commit = z.object(commit).meta({ id: 'Commit' });

const WorkItem = z
  .object({
    key: z.string(),
    url: z.string().nullable(),
    commits: z.array(z.string()).meta({
      description:
        'Ids of the listed commits that mention the work item, or that a merge brought in whose message mentions it',
    }),
    totalCommits: z.int().meta({ description: 'How many such commits there are, listed or not' }),
  })
  .meta({ id: 'WorkItemOfCommits' });

/** Why changes are not known. */
export const MissingChangelog = z
  .object({
    reason: z.enum(MISSING_REASONS),
    message: z.string(),
    lastTriedAt: Timestamp.nullable().meta({ description: 'When the last fetch of the repository began' }),
  })
  .nullable()
  .meta({
    id: 'MissingChangelog',
    description: [
      'Why the changes are unknown; null if they are known.',
      '- `fetching`: the repository is being fetched; ask again in a few seconds\n' +
        '- `unknown_commit`: the commit is not in the repository; it was never pushed, or history was rewritten\n' +
        '- `unknown_package`: the path of the package is unknown\n' +
        '- `unknown_version`: neither a tag nor a release candidate gives the commit of the version\n' +
        '- `no_remote`: the project has no remote\n' +
        '- `unreachable`: the last fetch failed',
    ].join('\n\n'),
  });

/** With what a release was compared in which environments. */
export const Bases = z.array(
  z
    .object({
      environment: z.string(),
      environmentId: z.string(),
      releaseName: z
        .string()
        .nullable()
        .meta({ description: 'The release it is compared with; null: nothing ran before' }),
    })
    .meta({ id: 'ReleaseBase' }),
);

const keys = { workItems: z.array(z.string()), pullRequests: z.array(z.int()) };

/** One side of a change: what it adds, or what it takes back. */
const sideOf = <Shown extends z.ZodType>(commits: Shown) =>
  z.object({ commits, totalCommits: z.int(), isTruncated: z.boolean(), ...keys });

export const ChangelogSide = sideOf(
  z.array(Commit).meta({ description: 'Newest first and limited; totals, work items and pull requests cover all' }),
).meta({ id: 'ChangelogSide' });

/** A side without its commits. */
export const SideKeys = z.object({ totalCommits: z.int(), ...keys }).meta({ id: 'ChangelogSideKeys' });

export const SideSummary = z
  .object({ totalCommits: z.int(), totalWorkItems: z.int(), totalPullRequests: z.int(), ...keys })
  .meta({ id: 'ChangelogSideSummary', description: 'Distinct items over all packages' });

const NOT_INCLUDED =
  'On the `removed` side of a package and not on its `added` side: what was cherry-picked to it is still included';
export const NoLongerIncludedKeys = z.object(keys).meta({ id: 'NoLongerIncludedKeys', description: NOT_INCLUDED });

const Cycles = z
  .array(z.array(z.string()))
  .meta({ description: 'Packages that depend on each other, so that nothing orders them' });

/** Members of a list of package changes, per package and in total. */
export const changesOfPackages = <Shown extends z.ZodType>(commits: Shown) => ({
  packages: z
    .array(
      z.object({
        packageName: z.string(),
        direction: z.enum(['install', 'upgrade', 'downgrade', 'remove']),
        fromVersion: z.string().nullable(),
        toVersion: z.string().nullable(),
        commitRange: z.object({ from: z.string().nullable(), to: z.string() }).nullable(),
        totalCommits: z.int(),
        totalWorkItems: z.int(),
        totalPullRequests: z.int(),
        ...keys,
        commits,
        isTruncated: z.boolean(),
        added: sideOf(commits),
        removed: sideOf(commits),
        missingChangelog: MissingChangelog,
      }),
    )
    .meta({
      description:
        'In the order in which the packages have to be installed: by the dependencies in sfdx-project.json, otherwise by name. `added` is `git log from..to`, `removed` is `git log to..from`; the members beside them are those of `added`, for a downgrade of `removed`',
    }),
  workItems: z.array(WorkItem),
  pullRequests: z.array(z.int()),
  noLongerIncluded: z
    .object({
      workItems: z.array(
        WorkItem.extend({ packages: z.array(z.string()).meta({ description: 'The packages that lose it' }) }),
      ),
      pullRequests: z.array(z.int()),
    })
    .meta({ description: NOT_INCLUDED }),
  summary: z.object({
    totalCommits: z.int(),
    totalWorkItems: z.int(),
    totalPullRequests: z.int(),
    added: SideSummary,
    removed: SideSummary,
  }),
  dependencyCycles: Cycles,
  missingChangelogPackages: z.array(z.string()),
});

/** A changelog without how fresh the repository is. */
export const ChangelogFacts = z.object(
  changesOfPackages(
    z.array(Commit).meta({
      description:
        'The result of `git log from..to -- <path of the package>`, at most 500; for a downgrade and on the `removed` side, of `git log to..from`',
    }),
  ),
);

export const Changelog = z
  .object({ ...ChangelogFacts.shape, repository: RepositoryFreshness })
  .meta({ id: 'Changelog' });

export const LinkedCandidate = z.object({
  id: z.string(),
  domain: z.string(),
  releaseName: z.string(),
  status: z.string(),
  workItems: z.array(z.string()),
});

export const CandidateChanges = z.object({
  packages: z.array(
    z.object({
      packageName: z.string(),
      path: z.string(),
      totalCommits: z.int(),
      totalWorkItems: z.int(),
      workItems: z.array(z.string()),
    }),
  ),
  workItems: z.array(WorkItem),
  commits: z
    .array(z.object({ ...commit, packages: z.array(z.string()) }))
    .meta({ description: 'Newest first, at most 1,000' }),
  totalCommits: z.int(),
  isTruncated: z.boolean(),
  added: ChangelogSide,
  removed: ChangelogSide.meta({
    description:
      'What the candidate lost: `git log commit..since`; empty if `since` is a date or an ancestor of the commit',
  }),
  since: z
    .string()
    .nullable()
    .meta({ description: 'The commit or date after which changes count; null: from the beginning' }),
  missingChangelog: MissingChangelog,
  repository: RepositoryFreshness,
});
