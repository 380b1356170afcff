import { z } from 'zod';
import { Timestamp } from './parameters.ts';

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
    commits: z.array(z.string()).meta({ description: 'Ids of the commits that mention the work item' }),
  })
  .meta({ id: 'WorkItemOfCommits' });

const Missing = z.string().nullable().meta({ description: 'Why the changes are unknown; null if they are known' });

/** Members of a list of package changes, per package and in total. */
export const changesOfPackages = <Shown extends z.ZodType>(commits: Shown) => ({
  packages: z.array(
    z.object({
      packageName: z.string(),
      direction: z.enum(['install', 'upgrade', 'downgrade', 'remove']),
      fromVersion: z.string().nullable(),
      toVersion: z.string().nullable(),
      commitRange: z.object({ from: z.string().nullable(), to: z.string() }).nullable(),
      totalCommits: z.int(),
      totalWorkItems: z.int(),
      totalPullRequests: z.int(),
      workItems: z.array(z.string()),
      pullRequests: z.array(z.int()),
      commits,
      isTruncated: z.boolean(),
      missingChangelog: Missing,
    }),
  ),
  workItems: z.array(WorkItem),
  pullRequests: z.array(z.int()),
  summary: z.object({ totalCommits: z.int(), totalWorkItems: z.int(), totalPullRequests: z.int() }),
  missingChangelogPackages: z.array(z.string()),
});

export const Changelog = z
  .object({
    ...changesOfPackages(
      z.array(Commit).meta({
        description:
          'The result of `git log from..to -- <path of the package>`, at most 500; for a downgrade, the commits that it removes',
      }),
    ),
    repository: RepositoryFreshness,
  })
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
  since: z
    .string()
    .nullable()
    .meta({ description: 'The commit or date after which changes count; null: from the beginning' }),
  missingChangelog: Missing,
  repository: RepositoryFreshness,
});
