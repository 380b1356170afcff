import { z } from 'zod';
import { BUILD_STATES } from '../../../domain/ci/builds/build-state-rules.ts';
import { ENVIRONMENT_CATEGORIES } from '../../../domain/projects/environments/environments.entities.ts';
import { DISPLAY_STATUSES } from '../../../domain/delivery/flows/run-status-rules.ts';
import {
  DateTime,
  Name,
  queryFlag,
  queryInt,
  queryList,
  RepositoryIdentifier,
  Timestamp,
} from '../../http/parameters.ts';

const CommitId = z.string().regex(/^[0-9a-fA-F]{7,64}$/, 'must be 7 to 64 hexadecimal digits');
const Branch = z.string().min(1).max(255);
const PreviewKey = z.string().regex(/^[0-9a-f]{32}$/, 'not a previewKey');

export const ofRepository = z.strictObject({ repositoryIdentifier: RepositoryIdentifier });

export const StatusQuery = ofRepository.extend({
  limit: queryInt(1, 100, 20),
  offset: queryInt(0, 999_999_999, 0),
  domain: Name.optional().meta({ description: 'Only commits that change packages of this domain' }),
});

export const CommitsQuery = ofRepository.extend({ branch: Branch, limit: queryInt(1, 50, 30) });

const CiInfo = z.object({
  service: z.string(),
  name: z.string(),
  buildUrl: z.string().nullable(),
  buildNumber: z.string().nullable(),
  job: z.string(),
  branch: z.string().nullable(),
  isPr: z.boolean(),
  prNumber: z.int().nullable(),
});

const BuildStatus = z
  .object({
    commitId: z.string(),
    commitMessage: z.string().nullable(),
    commitAuthor: z.string().nullable(),
    commitDate: Timestamp,
    commitTimestamp: z.int().meta({ description: 'commitDate in milliseconds since the epoch' }),
    ciInfo: CiInfo.nullable().meta({ description: 'The most recently reported build' }),
    domains: z.record(z.string(), z.object({ packages: z.array(z.string()) })).meta({
      description:
        'Domains with the packages that the commit changes compared with its first parent; empty until the commit is fetched',
    }),
    skipReason: z
      .string()
      .nullable()
      .meta({ description: 'Why a push of the commit is not built: a marker in its message' }),
    workflowStatus: z.object({
      state: z.enum(BUILD_STATES).meta({ description: 'Combined state of all builds of the commit' }),
      branch: z.string().nullable(),
      builds: z.record(
        z.string(),
        z.object({ state: z.enum(BUILD_STATES), at: z.string().nullable(), url: z.string().nullable() }),
      ),
    }),
    firstSeenAt: Timestamp,
    lastUpdatedAt: Timestamp,
  })
  .meta({ id: 'BuildStatus' });

export const BuildStatuses = z
  .object({ builds: z.array(BuildStatus), total: z.int(), hasMore: z.boolean() })
  .meta({ id: 'BuildStatuses' });

export const BranchOut = z
  .object({ name: z.string(), commitId: z.string(), committedAt: Timestamp, isDefault: z.boolean() })
  .meta({ id: 'BuildBranch' });

export const CommitOut = z
  .object({
    sha: z.string(),
    message: z.string().meta({ description: 'First line of the message' }),
    authorName: z.string(),
    authoredAt: Timestamp,
    baseRef: z.string().nullable().meta({ description: 'First parent; null for a root commit' }),
  })
  .meta({ id: 'BuildCommit' });

export const PreviewQuery = ofRepository.extend({
  branchName: Branch,
  commitId: CommitId,
  forceBuildDomains: queryList(Name),
  forceBuildPackages: queryList(Name),
  targetEnvironmentTypes: queryList(z.enum(ENVIRONMENT_CATEGORIES)),
  debug: queryFlag(false),
  refreshImpact: queryFlag(false),
});

const ImpactedDomain = z.strictObject({ domainName: Name, impactedPackages: z.array(Name).max(5_000) });

export const Impact = z
  .object({
    status: z.enum(['pending', 'available', 'error']),
    previewKey: z.string(),
    generation: z.int().meta({ description: 'Number of the computation for this `previewKey`' }),
    jobId: z.string().meta({ description: 'Id of the workflow that computes it' }),
    impactedDomains: z.array(ImpactedDomain),
    computedAt: Timestamp.nullable(),
    message: z.string().nullable(),
  })
  .meta({ id: 'BuildImpact' });

export const Preview = z
  .object({
    workflowKind: z.string().meta({ description: '`build-on-merge`' }),
    targetScope: z
      .string()
      .meta({ description: '`allowed-domains`: the affected domains among those that the project lists' }),
    plannedTargets: z
      .array(z.object({ domainName: z.string(), packages: z.array(z.string()), environments: z.array(z.string()) }))
      .meta({
        description:
          'What would be built, as far as the impact is known, and the active environments of the branch in the requested categories',
      }),
    cascadeSourceBranch: z
      .string()
      .nullable()
      .meta({ description: "The branch that is merged into this one by the project's cascade" }),
    excluded: z.boolean(),
    exclusionReason: z.string().nullable(),
    dispatchStatus: z.enum(['available', 'active', 'completed', 'excluded', 'unavailable']),
    existingExecutionId: z.uuid().nullable(),
    existingRun: z.object({ executionId: z.uuid(), status: z.enum(DISPLAY_STATUSES) }).nullable(),
    impact: Impact,
    debug: z
      .object({
        branchTip: z.string().nullable(),
        commitId: z.string(),
        baseCommitId: z.string().nullable(),
        fetchedAt: Timestamp.nullable(),
        isStale: z.boolean(),
      })
      .optional(),
  })
  .meta({ id: 'BuildPreview' });

export const ImpactQuery = ofRepository.extend({ previewKey: PreviewKey });

export const ImpactResultIn = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  previewKey: PreviewKey,
  generation: z.int().positive().max(2_147_483_647),
  status: z.enum(['available', 'error']),
  impactedDomains: z.array(ImpactedDomain).max(500),
  computedAt: DateTime,
  message: z.string().max(2_000).optional(),
});

export const RunIn = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  branchName: Branch,
  commitId: CommitId,
});

export const RunOut = z
  .object({
    outcome: z.enum(['started', 'already_active', 'already_completed', 'excluded']),
    executionId: z.uuid().nullable(),
    message: z.string(),
  })
  .meta({ id: 'BuildRunOutcome' });
