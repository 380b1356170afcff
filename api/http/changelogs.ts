import { z } from 'zod';
import { Timestamp } from './parameters.ts';

export const RepositoryFreshness = z
  .object({ fetchedAt: Timestamp.nullable(), isStale: z.boolean(), error: z.string().nullable() })
  .meta({
    id: 'RepositoryFreshness',
    description: 'How new the facts of the repository are; stale: never fetched, or the last fetch failed',
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
    commits: z.array(z.string()).meta({ description: 'Ids of the commits that name it' }),
  })
  .meta({ id: 'WorkItemOfCommits' });

const Missing = z.string().nullable().meta({ description: 'Why the changes are not known; null when they are' });

/** What package changes consist of, by package and over all. */
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
          'As `git log from..to -- <path of the package>` lists them, at most 500; of a downgrade, those that it takes back',
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
    .meta({ description: 'The commit or date from which changes count; null: from the beginning' }),
  missingChangelog: Missing,
  repository: RepositoryFreshness,
});
