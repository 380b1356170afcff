import { z } from 'zod';
import { ApprovalPolicySchema } from '../../../domain/projects/policies/approval-policy.ts';
import { Pipeline } from '../../../domain/projects/policies/pipeline.schemas.ts';
import { collectionNameProblem } from '../../../domain/documents/name-rules.ts';
import { shownRemote } from '../../../domain/projects/remotes/git-remote-rules.ts';
import { compileKeyFinder } from '../../../domain/projects/work-items/work-item-patterns.ts';
import { WANTED_EXECUTORS } from '../../../domain/projects/policies/executor-policy-rules.ts';
import { PLATFORMS } from '../../../domain/projects/projects/projects.entities.ts';
import { mapOf, type TextRule, textUpTo } from '../../../domain/kernel/overrides/large-maps.ts';
import {
  CurrentVersion,
  FreeText,
  GivenObject,
  Name,
  NameText,
  RepositoryIdentifier,
  Timestamp,
} from '../../http/parameters.ts';
import { warningsOf } from '../../http/warnings.ts';

/** A regular expression in RE2 syntax. */
const Pattern = z
  .string()
  .min(1)
  .max(255)
  .superRefine((pattern, context) => {
    try {
      compileKeyFinder(pattern);
    } catch (error) {
      context.addIssue({
        code: 'custom',
        message: `not a regular expression in RE2 syntax: ${(error as Error).message}`,
      });
    }
  });

/** A domain: its name, or an object with its packages. */
const Domain = z.union([Name, z.strictObject({ name: Name, packages: z.array(Name).max(1_000).optional() })]);

const Percentages = {
  warning: z.number().positive().max(1_000).nullable().optional(),
  critical: z.number().positive().max(1_000).nullable().optional(),
};
const OrgLimitSettings = z.strictObject({
  ...Percentages,
  overrides: z.record(Name, z.strictObject(Percentages).nullable()).nullable().optional(),
  ignore: z.array(Name).max(500).nullable().optional(),
});

const MetricsAlertConfig = GivenObject.superRefine(({ orgLimits }, context) => {
  const { error } = OrgLimitSettings.nullable().optional().safeParse(orgLimits);
  for (const { path, message } of error?.issues ?? [])
    context.addIssue({ code: 'custom', path: ['orgLimits', ...path], message });
}).meta({
  description:
    'Open, except for `orgLimits`, the alerts of limits of the orgs that the project names: `{warning, critical, overrides: {<limit>: {warning, critical}}, ignore: [<limit>]}`, in per cent; default: 75 and 90',
});

const FLOW_TYPE_NAME = /^[a-z][a-z0-9-]{0,63}$/;
const FLOW_TYPE: TextRule = {
  schema: z.string().regex(FLOW_TYPE_NAME),
  read: (value) => (typeof value === 'string' && FLOW_TYPE_NAME.test(value) ? value : undefined),
};
const Executor = z.enum(WANTED_EXECUTORS);
const EXECUTOR: TextRule = { schema: Executor, read: (value) => Executor.safeParse(value).data };

const configuration = {
  displayName: Name,
  branches: z.array(Name).max(200),
  domains: z.array(Domain).max(500),
  packagePaths: mapOf(NameText, textUpTo(1_000), { max: 1_000, message: 'more than 1,000 packages' }).meta({
    description: 'Maps package names to paths; used if the default branch has no sfdx-project.json that lists packages',
  }),
  devHubs: z.array(Name).max(50),
  autoReleaseFinalization: z.boolean().meta({
    description: 'Finalize a candidate once it has been deployed to all environments of category `release`',
  }),
  manualFinalization: z.enum(['anyone', 'owner', 'never']).meta({
    description:
      'Who may set the status of a candidate to `finalized`; default: `anyone`. Everybody else gets 409 `invalid_transition`. Automatic finalization is not affected',
  }),
  approvalPolicy: ApprovalPolicySchema.meta({
    description:
      "For runs of flow types with the approval gate whose environment has no policy, or whose target is none of the tenant's environments. If it is absent, nobody is asked for an environment without a policy, and the owners for an unknown target",
  }),
  executors: mapOf(FLOW_TYPE, EXECUTOR, { max: 100, message: 'more than 100 types' }).meta({
    description: 'What executes runs, by flow type, where their payload has no `executor`',
  }),
  buildPipeline: Pipeline.omit({ ref: true }).meta({
    description: 'The git host pipeline that `POST /api/builds/run` starts on the branch',
  }),
  analysisPipeline: Pipeline.omit({ ref: true }).meta({
    description:
      'The git host pipeline that analyses a commit, instead of the service, and publishes the results by `POST /api/testreports/code-analysis/results`',
  }),
  qualityGate: z
    .strictObject({
      maxErrors: z.int().min(0).optional(),
      maxNewErrors: z.int().min(0).optional(),
      maxNewWarnings: z.int().min(0).optional(),
    })
    .meta({
      description:
        'What the results of code analyses must keep to; the verdict is written to the git host as the commit status `quayside/code-analysis`. The first run of a branch has no new issues, so that only `maxErrors` holds for it',
    }),
  apexTests: z
    .strictObject({
      minCoverage: z.number().min(0).max(100).optional(),
      minChangedCoverage: z.number().min(0).max(100).optional(),
      noNewFailures: z.boolean().optional(),
      ignoreFlaky: z.boolean().optional(),
    })
    .meta({
      description: 'What runs of `run-apex-tests` must come to where their payloads do not say; members as there',
    }),
  recordPipeline: Pipeline.omit({ ref: true }).meta({
    description:
      'The git host pipeline that executes browser sessions, instead of the service, and reports by `PATCH /api/browser-sessions/{id}`',
  }),
  cascade: z.array(z.strictObject({ from: Name, to: Name })).max(200),
  workItems: z.strictObject({
    provider: z.enum(['tracker-a', 'host-a', 'host-b']).optional(),
    boards: z.array(Name).max(50).optional(),
    workItemFilters: z.array(Pattern).max(20).optional(),
    issueType: Name.optional().meta({
      description: 'Type of the work items that are created in tracker-a and host-b; default: `Task`',
    }),
    closeOnCompletion: z.boolean().optional().meta({
      description: 'Close the work item of a request five minutes after its run has succeeded; default: true',
    }),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .optional(),
  }),
  metricsAlertConfig: MetricsAlertConfig,
  customReleaseStatuses: z
    .array(z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/))
    .max(20)
    .meta({ description: 'Candidate statuses in addition to pending, in_progress, aborted and finalized' }),
  documentCollections: z
    .array(
      Name.superRefine((pattern, context) => {
        const problem = collectionNameProblem(pattern);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: `the pattern ${problem}` });
      }),
    )
    .max(100)
    .meta({
      description:
        'Collections of documents that belong to the project besides `repo:<identifier>`, those below it, and `manifests/<identifier>:<branch>`; `*` matches within a segment, `**` across slashes. Application tokens of the project reach these',
    }),
};

export const ProjectConfiguration = z.strictObject(configuration).partial().meta({ id: 'ProjectConfiguration' });

/** `null` removes a member. */
const ConfigurationPatch = z
  .strictObject(
    Object.fromEntries(Object.entries(configuration).map(([name, schema]) => [name, schema.nullable().optional()])),
  )
  .meta({ description: 'Merged into the configuration (RFC 7396); `null` removes a member' });

const remoteUrl = FreeText.meta({
  description:
    'The git remote: `https://host/path`, `ssh://user@host/path` or `git@host:path`, at a public address. Credentials are stored as an integration; a user name is refused in https, except the organization in clone addresses of Azure DevOps',
  example: 'https://git.example.com/acme/storefront.git',
});

export const ProjectIn = z.strictObject({
  identifier: RepositoryIdentifier,
  remoteUrl: remoteUrl.nullable().optional(),
  platform: z.enum(PLATFORMS),
  defaultBranch: Name.default('main'),
  configuration: ProjectConfiguration.default({}),
});

export const ProjectPatch = z.strictObject({
  remoteUrl: remoteUrl.nullable().optional(),
  platform: z.enum(PLATFORMS).optional(),
  defaultBranch: Name.optional(),
  configuration: ConfigurationPatch.optional(),
  version: CurrentVersion.optional(),
});

const shown = z.object({
  id: z.uuid(),
  identifier: z.string(),
  remoteUrl: z
    .string()
    .nullable()
    .default(null)
    .overwrite(shownRemote)
    .meta({ description: 'null also for a stored address of a form that is refused now: it may contain a secret' }),
  platform: z.enum(PLATFORMS),
  defaultBranch: z.string(),
  configuration: z.looseObject({}),
  version: z.int(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const Project = shown.meta({ id: 'Project' });

export const ProjectWithWarnings = shown
  .extend(
    warningsOf(
      'unreachable_remote',
      'unknown_default_branch',
      'package_path_matches_nothing',
      'unknown_approver',
      'too_few_approvers',
    ),
  )
  .meta({ id: 'ProjectWithWarnings' });
