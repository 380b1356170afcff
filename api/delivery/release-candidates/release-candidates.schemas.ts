import { z } from 'zod';
import { mapOf, trimmedText } from '../../../domain/kernel/overrides/large-maps.ts';
import { PolicyViolations, RunningViolations } from '../../projects/environments/policy-violations.schemas.ts';
import { DeploymentFact, VerificationOfDeployment } from '../deployment-facts.ts';
import type { SideChoice } from '../../../domain/delivery/releases/changelogs/side-comparison.ts';
import { isId } from '../../../domain/kernel/shared/ids.ts';
import { HoldOfCandidate } from '../holds.ts';
import {
  DateTime,
  JsonObject,
  Name,
  NameText,
  queryFlag,
  RepositoryIdentifier,
  Timestamp,
  withinSize,
} from '../../http/parameters.ts';
import { warningsOf } from '../../http/warnings.ts';
import { Changelog, LinkedCandidate } from '../changelogs.ts';

export const Domain = Name.meta({ description: 'Domain of the repository', example: 'core' });
export const ReleaseName = Name.meta({ example: '2026.03' });
export const Branch = Name.meta({ example: 'release/2026.03' });
/** A commit id, full or abbreviated. */
export const CommitSha = z.string().regex(/^[0-9a-fA-F]{7,64}$/, 'must be 7 to 64 hexadecimal digits');
export const Status = z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/);
/** Maps package names to versions. */
export const PackageVersions = mapOf(NameText, trimmedText(100), {
  max: 5_000,
  message: 'more than 5,000 packages',
}).meta({ description: 'Maps package names to versions' });

/** What three maps of 5,000 packages need, with room for metadata. */
const DEFINITION_LIMITS = { values: 20_000, characters: 2_000_000 };

export const ReleaseDefinition = withinSize(
  z.looseObject({
    artifacts: PackageVersions.optional(),
    artifactTypes: mapOf(NameText, NameText).optional(),
    packageDependencies: JsonObject.optional().meta({ description: 'Maps package names to package ids' }),
    metadata: z.unknown().optional(),
  }),
  DEFINITION_LIMITS,
).meta({ id: 'ReleaseDefinition', description: 'An open object; `artifacts` maps package names to versions' });

const candidateName = { repositoryIdentifier: RepositoryIdentifier, domain: Domain, releaseName: ReleaseName };
export const CandidateName = z.strictObject(candidateName);

export const CandidateIn = z.strictObject({
  ...candidateName,
  commitSha: CommitSha,
  branch: Branch.nullable().optional(),
  tag: Name.nullable().optional(),
  status: Status.optional().meta({ description: 'Default: `pending`' }),
  version: z.int().positive().optional().meta({ description: 'The current version; any other gets 409' }),
  value: ReleaseDefinition,
});

export const ReleaseCandidate = z
  .object({
    id: z.string(),
    repositoryIdentifier: z.string(),
    domain: z.string(),
    releaseName: z.string(),
    commitSha: z.string(),
    branch: z.string().nullable().default(null),
    tag: z.string().nullable().default(null),
    value: z.unknown().meta({ override: { $ref: '#/components/schemas/ReleaseDefinition' } }),
    version: z.int(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    createdBy: z.string(),
    updatedBy: z.string(),
    status: z.string(),
    statusChangedAt: Timestamp.nullable().default(null),
    statusChangedBy: z.string().nullable().default(null),
    isIntermediate: z.boolean().meta({
      description: 'Finalized along with a newer candidate of its domain and branch, not by its own deployments',
    }),
    supersededBy: z
      .string()
      .nullable()
      .default(null)
      .meta({ description: 'Name of the newer release along with which it was finalized', example: '2026.04' }),
    hold: HoldOfCandidate,
  })
  .meta({ id: 'ReleaseCandidate' });

export const CandidateWithWarnings = ReleaseCandidate.extend(
  warningsOf('unknown_commit', 'commit_not_on_branch', 'package_of_other_domain'),
).meta({ id: 'ReleaseCandidateWithWarnings' });

export const StatusIn = z.strictObject({ status: Status });
export const StatusByNameIn = z.strictObject({ ...candidateName, status: Status });
export const AbortIn = z.strictObject({ ...candidateName, reason: z.string().max(4_000).optional() });

export const HoldIn = z.strictObject({
  reason: z
    .string()
    .trim()
    .min(1)
    .max(1_000)
    .meta({ description: 'For people', example: 'Waiting for the price list' }),
  until: DateTime.optional().meta({ description: 'When the hold is over by itself; absent: when it is lifted' }),
});

export const UpdatePackagesIn = z.strictObject({
  ...candidateName,
  excludePackages: z.array(Name).max(1_000).default([]).meta({ description: 'Names of the packages to remove' }),
  versionOverrides: PackageVersions.default({}).meta({ description: 'Maps package names to new versions' }),
});

export const CompareIn = z
  .strictObject({ environmentName: Name.optional(), environmentId: z.string().optional() })
  .refine(({ environmentName, environmentId }) => (environmentName === undefined) !== (environmentId === undefined), {
    message: 'give either environmentName or environmentId',
  });
/** Whether a comparison has a changelog. */
export const IncludeChangelog = queryFlag(false).meta({
  description:
    'Include the commits and work items of each package that is installed or updated, and the candidates that share work items',
});

const Side = z
  .string()
  .transform((text, context): SideChoice => {
    const [, kind, id] = /^(candidate|environment):(.{36})$/.exec(text) ?? [];
    if (kind !== undefined && id !== undefined && isId(id)) return { kind: kind as SideChoice['kind'], id };
    context.addIssue({ code: 'custom', message: 'must be candidate:<id> or environment:<id>' });
    return z.NEVER;
  })
  .meta({
    override: {
      type: 'string',
      pattern: '^(candidate|environment):[0-9a-f-]{36}$',
      description: '`candidate:<id>` or `environment:<id>`',
    },
  });
export const SidesQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  left: Side,
  right: Side,
  includeChangelog: IncludeChangelog,
});

export const CompareToPackagesIn = z.strictObject({ packages: PackageVersions, baseLabel: Name.default('packages') });

const ComparisonEntry = z.object({
  name: z.string(),
  type: z.string(),
  isOutOfSync: z.boolean().meta({ description: 'The environment runs a newer version than the candidate contains' }),
  isOtherContent: z.boolean().optional().meta({
    description:
      'Only if true: the version is the same, but it was deployed from another commit than the candidate has',
  }),
  versions: z.object({ from: z.string().nullable(), to: z.string() }),
});
const Comparison = z
  .object({
    packagesToInstall: z.array(ComparisonEntry),
    packagesToUpdate: z.array(ComparisonEntry),
    unchanged: z.array(ComparisonEntry),
    totalChanges: z.int(),
    installOrder: z.array(z.string()).meta({
      description:
        'Packages to install or update, each after its dependencies in sfdx-project.json, otherwise by name; the lists of packages have the same order',
    }),
    dependencyCycles: z
      .array(z.array(z.string()))
      .meta({ description: 'Packages that depend on each other, so that nothing orders them' }),
  })
  .meta({ id: 'PackageComparison' });
const compared = {
  releaseCandidate: ReleaseCandidate,
  comparison: Comparison,
  changelog: Changelog.nullable().meta({ description: 'Null without `includeChangelog`' }),
  linkedCandidates: z.array(LinkedCandidate).nullable().meta({
    description: 'Candidates of other domains that share new work items; null without `includeChangelog`',
  }),
};
export const EnvironmentComparison = z.object({
  ...compared,
  environment: z.object({
    id: z.string(),
    name: z.string(),
    category: z.string(),
    policyViolations: RunningViolations,
  }),
  deployment: DeploymentFact,
  policyViolations: PolicyViolations.meta({
    description:
      "What the last deployment of the candidate's present content to the environment broke of its policies, as they were when it was reported; empty while it was never deployed there",
  }),
  verification: VerificationOfDeployment,
  estimatedDeploymentTime: z
    .number()
    .nullable()
    .meta({ description: 'In seconds, estimated from past deployments of the same packages; null if unknown' }),
});
export const PackagesComparison = z.object({ ...compared, baseLabel: z.string() });

const SideOut = z
  .object({
    kind: z.enum(['candidate', 'environment']),
    id: z.uuid(),
    name: z.string().meta({ description: 'Name of the release, or of the environment' }),
    domain: z.string().nullable().meta({ description: 'Null for an environment' }),
    commitSha: z.string().nullable().meta({ description: 'Null for an environment' }),
  })
  .meta({ id: 'ComparedSide' });

export const SideComparison = z.object({
  repositoryIdentifier: z.string(),
  left: SideOut,
  right: SideOut,
  comparison: Comparison,
  onlyRight: z
    .array(z.object({ name: z.string(), version: z.string() }))
    .meta({ description: 'Packages that only the right side has, by name; nothing is done to them' }),
  changelog: compared.changelog,
  linkedCandidates: compared.linkedCandidates.meta({
    description:
      'Candidates of other domains that share new work items; null without `includeChangelog`, and where the left side is an environment',
  }),
  deployment: DeploymentFact.nullable().meta({
    description: 'Whether the left candidate is deployed to the right environment; null for other sides',
  }),
  estimatedDeploymentTime: z.number().nullable().meta({
    description:
      'In seconds, estimated from past deployments of the same packages; null if unknown, and where the right side is a candidate',
  }),
});
