import { z } from 'zod';
import { anyText, mapOf } from '../../../domain/kernel/overrides/large-maps.ts';
import { MissingChangelog, RepositoryFreshness, SideKeys, SideSummary } from '../changelogs.ts';
import { PolicyViolations } from '../../projects/environments/policy-violations.schemas.ts';
import { DeploymentFact, MissingEnvironment, VerificationOfDeployment } from '../deployment-facts.ts';
import { HoldOfCandidate } from '../holds.ts';
import { DateTime, FreeText, JsonObject, Name, RepositoryIdentifier, Timestamp } from '../../http/parameters.ts';

const totals = { totalCommits: z.int(), totalWorkItems: z.int(), totalPullRequests: z.int() };
const Totals = z.object({ ...totals, added: SideSummary, removed: SideSummary }).meta({
  id: 'ChangelogTotals',
  description:
    'Distinct items over all packages. `added` is what the release brings, `removed` is what it takes back; the totals beside them are those of `added`, for downgraded packages of `removed`',
});

const PackageChange = z.object({
  packageName: z.string(),
  fromVersion: z.string().nullable(),
  toVersion: z.string().nullable(),
  ...totals,
  workItems: z.object({
    issues: z.array(z.string()),
    pullRequests: z.array(z.int()),
    byType: z.record(z.string(), z.int()),
  }),
  commitRange: z.object({ from: z.string().nullable(), to: z.string() }).nullable(),
  added: SideKeys,
  removed: SideKeys,
  missingChangelog: MissingChangelog,
});

const Rollback = z.object({
  rolledBackFrom: z.string(),
  rolledBackAt: z.string(),
  rolledBackBy: z.string(),
  skipAnalysis: z.boolean(),
  packageChanges: z.array(
    z.object({ name: z.string(), from: z.string().nullable(), to: z.string().nullable(), direction: z.string() }),
  ),
});

const Approval = z.object({
  status: z.string(),
  requestedBy: z.string().nullable(),
  approvedBy: z.string().nullable(),
  approvedAt: Timestamp.nullable(),
  responseTimeMs: z.number().nullable(),
  source: z.string().meta({ description: '`flow`: given in this service; `report`: part of a reported deployment' }),
});

export const Environment = z.object({
  name: z.string(),
  environmentId: z.string(),
  deployedAt: Timestamp,
  executionId: z.string().nullable().meta({
    description:
      'The run of the last deployment: of this service, or as the pipeline reported it; null: none was named',
  }),
  status: z.string().meta({ description: 'Status of the last deployment of the release to the environment' }),
  rolledBackAt: Timestamp.nullable().meta({ description: 'When the release was rolled back' }),
  supersededContent: z.boolean().meta({
    description:
      'The candidate has been posted again with another commit or other artifacts since: the deployment no longer counts for it',
  }),
  deployment: DeploymentFact,
  packages: mapOf(anyText, anyText),
  packageDetails: z.array(z.looseObject({ name: z.string() })),
  changesFromPrevious: z.array(PackageChange).nullable().meta({
    description: 'Compared with the previous release of the domain in the environment; null without `includeChangelog`',
  }),
  releaseChangelog: Totals.nullable(),
  orchestrationOrder: z.int(),
  metadata: z.unknown(),
  rollback: Rollback.nullable(),
  deploymentCounts: z.object({ deployed: z.int(), skipped: z.int(), failed: z.int(), total: z.int() }),
  approval: Approval.nullable().meta({ description: 'Null without `includeApprovals`' }),
  policyViolations: PolicyViolations,
  verification: VerificationOfDeployment,
  lockStatus: z.looseObject({ isLocked: z.boolean() }).nullable().meta({ description: 'Null with `skipLockStatus`' }),
});

export const Release = z
  .object({
    name: z.string(),
    domain: z.string(),
    candidateId: z.string().nullable().meta({ description: 'Null once the candidate was deleted' }),
    status: z.string().nullable().meta({ description: 'Status of the candidate; null once it was deleted' }),
    supersededBy: z
      .string()
      .nullable()
      .meta({ description: 'The newer release with which the candidate was finalized; null: it was not superseded' }),
    hold: HoldOfCandidate,
    environments: z.array(Environment),
    firstDeployedAt: Timestamp,
    lastDeployedAt: Timestamp,
    deploymentCount: z.int(),
    deploymentStatus: z.object({
      status: z.enum(['completed', 'in_progress', 'failed', 'rolled_back']),
      totalPackages: z.int(),
      packagesCompleted: z.int(),
      packagesInProgress: z.int(),
      packagesWithIssues: z.array(z.object({ packageName: z.string(), issue: z.string() })),
      missingFromEnvironments: z.array(z.string()).meta({
        description:
          'Active environments of category `release` whose branch pattern matches and to which the release is not deployed',
      }),
      missing: z.array(MissingEnvironment),
      recommendations: z.array(z.string()).meta({
        description:
          'What is left to do; nothing in an environment that runs a newer release of the same branch or newer versions',
      }),
    }),
    packageStatuses: z.array(
      z.object({
        packageName: z.string(),
        releaseVersion: z.string(),
        isFullyDeployed: z.boolean().meta({ description: 'Deployed to every active release environment' }),
        isAbandoned: z
          .boolean()
          .meta({ description: 'The environments without this release already run a newer version' }),
        trajectory: z
          .array(z.string())
          .meta({ description: 'Environments to which it was deployed, in deployment order' }),
      }),
    ),
    releaseDefinition: JsonObject.nullable(),
    releaseChangelog: Totals.nullable(),
  })
  .meta({ id: 'Release' });

export const Releases = z.object({
  repositoryIdentifier: z.string(),
  releases: z.array(Release),
  totalCount: z.int(),
  changelogStats: z.object({
    uniqueDiffsCalculated: z.int(),
    totalEnvironments: z.int(),
    cacheHits: z.int(),
    processingTimeMs: z.int(),
  }),
  retrievedAt: Timestamp,
  filters: z.object({ domain: z.string().nullable(), includeChangelog: z.boolean() }),
  repository: RepositoryFreshness.nullable().meta({ description: 'Null without `includeChangelog`' }),
});

export const RollbackIn = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  environment: Name.meta({ description: 'Name of the environment' }),
  target: Name.meta({ description: 'The release that runs again after the rollback' }),
  rolledBackFrom: Name.meta({ description: 'The release that was rolled back' }),
  rolledBackBy: FreeText.min(1),
  rolledBackAt: DateTime.optional().meta({
    description:
      'When it was rolled back, not before its deployment and not later than now. Default: when another release was installed in its place, otherwise now',
  }),
  domain: Name.optional().meta({ description: 'Required if both releases were deployed in several domains' }),
});
