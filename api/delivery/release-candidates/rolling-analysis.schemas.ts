import { z } from 'zod';
import { anyText, mapOf } from '../../../domain/kernel/overrides/large-maps.ts';
import { Timestamp } from '../../http/parameters.ts';
import { ChangelogSide, Commit, MissingChangelog, RepositoryFreshness, SideSummary } from '../changelogs.ts';

const Entry = z
  .object({
    name: z.string(),
    from: z.string().nullable(),
    to: z.string().nullable(),
    since: z.string().nullable().meta({
      description:
        'The version from which commits count: `from`, or of an added package the last one that an earlier candidate of the branch held; null: from the beginning',
    }),
    isInstalled: z.boolean().meta({ description: 'An active environment has the package, in any version' }),
    installedIn: z.array(z.string()).meta({ description: 'Names of these environments' }),
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
  packages: z.object({ added: z.array(Entry), updated: z.array(Entry), removed: z.array(Entry) }).meta({
    description:
      'Packages of the candidate against those of the other one. A package that the candidate does not carry is removed; where it is installed it stays, so that no commits are counted for it',
  }),
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

const Baseline = z
  .object({
    releaseName: z.string(),
    createdAt: Timestamp,
    completedAt: Timestamp.nullable(),
    deployedEnvironments: z.array(z.string()),
    packages: mapOf(anyText, anyText),
    isDefaultBaseline: z.boolean().meta({
      description:
        'No candidate of the branch has been deployed to all release environments of the branch, so this is the oldest',
    }),
    branch: z.string(),
  })
  .meta({ id: 'RollingBaseline' });

export const RollingAnalysis = z
  .object({
    repository: z.string(),
    domain: z.string(),
    baseline: Baseline.nullable().meta({
      description:
        'The baseline of the branch asked for, else of the default branch, else of the branch of the newest candidate; null if there are no candidates',
    }),
    baselinesByBranch: z.record(z.string(), Baseline.nullable()),
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
        baselineReleaseName: z.string().nullable().meta({ description: 'The baseline of its branch' }),
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
