import { z } from 'zod';
import { anyText, mapOf } from '../../domain/shared/large-maps.ts';
import { Timestamp } from '../http/parameters.ts';
import { ChangelogSide, Commit, MissingChangelog, RepositoryFreshness, SideSummary } from '../http/changelogs.ts';

const Entry = z
  .object({
    name: z.string(),
    from: z.string().nullable(),
    to: z.string().nullable(),
    direction: z.enum(['install', 'upgrade', 'downgrade', 'remove']),
    totalCommits: z.int(),
    totalWorkItems: z.int(),
    totalAdded: z.int().meta({ description: 'Commits of `git log from..to`' }),
    totalRemoved: z.int().meta({ description: 'Commits of `git log to..from`: diverged, or downgraded' }),
    missingChangelog: MissingChangelog,
    changelog: z
      .object({
        commits: z.array(Commit),
        isTruncated: z.boolean(),
        workItems: z.array(z.string()),
        pullRequests: z.array(z.int()),
        added: ChangelogSide,
        removed: ChangelogSide,
      })
      .nullable()
      .meta({ description: 'At most 50 commits on each side; null without `includePackageChangelogs`' }),
  })
  .meta({ id: 'AnalysedPackage' });

const changes = {
  packages: z.object({ added: z.array(Entry), updated: z.array(Entry), removed: z.array(Entry) }),
  summary: z.object({
    totalPackageChanges: z.int(),
    totalCommits: z.int(),
    totalWorkItems: z.int(),
    added: SideSummary,
    removed: SideSummary,
  }),
};
const Seconds = z
  .number()
  .nullable()
  .meta({ description: 'In seconds, estimated from past deployments of the same packages; null if unknown' });

export const RollingAnalysis = z
  .object({
    repository: z.string(),
    domain: z.string(),
    baseline: z
      .object({
        releaseName: z.string(),
        createdAt: Timestamp,
        completedAt: Timestamp.nullable(),
        deployedEnvironments: z.array(z.string()),
        packages: mapOf(anyText, anyText),
        isDefaultBaseline: z
          .boolean()
          .meta({ description: 'No candidate has been deployed to all release environments, so this is the oldest' }),
        branch: z.string(),
      })
      .nullable()
      .meta({ description: 'Null if the domain has no candidates' }),
    orchestrationOrder: z.array(z.string()),
    currentEnvironmentStates: z.record(
      z.string(),
      z.object({ currentRelease: z.string().nullable(), packages: mapOf(anyText, anyText) }),
    ),
    candidates: z.array(
      z.object({
        id: z.string(),
        releaseName: z.string(),
        branch: z.string(),
        commitSha: z.string(),
        status: z.string(),
        createdAt: Timestamp,
        deployedEnvironments: z.array(z.string()),
        incrementalChanges: z
          .object({ ...changes, estimatedDeploymentTime: Seconds })
          .meta({ description: 'Compared with the previous candidate on the branch' }),
        cumulativeChanges: z
          .object({ ...changes, cumulativeSummary: z.object({ estimatedDeploymentTime: Seconds }) })
          .meta({ description: 'Compared with the baseline' }),
      }),
    ),
    candidatesByBranch: z.record(z.string(), z.array(z.object({ id: z.string(), releaseName: z.string() }))),
    gitFreshness: RepositoryFreshness,
  })
  .meta({ id: 'RollingAnalysis' });
