import { z } from 'zod';
import { PolicyViolations } from '../../projects/environments/policy-violations.schemas.ts';
import { MissingChangelog, SideKeys, SideSummary } from '../changelogs.ts';
import { APPROVAL_SORTS } from '../../../domain/delivery/approvals/approvals.queries.ts';
import { APPROVAL_STATUSES } from '../../../domain/delivery/approvals/approval-rules.ts';
import { COMPLIANCE_STATUSES } from '../../../domain/delivery/approvals/compliance.queries.ts';
import {
  DateTime,
  Day,
  FreeText,
  Name,
  queryFlag,
  queryInt,
  RepositoryIdentifier,
  Timestamp,
} from '../../http/parameters.ts';

const ApprovalStatus = z.enum(APPROVAL_STATUSES);

const Override = z.object({ reason: z.string(), by: z.string(), at: Timestamp }).nullable();

export const DecisionIn = z.strictObject({ comment: FreeText.optional() });

export const Approval = z
  .object({
    id: z.uuid(),
    executionId: z.uuid().meta({ description: 'The run that waits for the approval' }),
    taskType: z.string(),
    repositoryIdentifier: z.string().nullable(),
    environmentId: z.uuid().nullable(),
    environmentName: z.string().nullable(),
    domain: z.string().nullable(),
    releaseName: z.string().nullable(),
    candidateId: z.uuid().nullable().meta({ description: 'The release candidate; null where there is none' }),
    status: ApprovalStatus,
    approvers: z.array(z.string()).meta({ description: 'E-mails and team slugs; empty: the owners of the tenant' }),
    minApprovals: z.int(),
    allowSelfApproval: z.boolean(),
    requestedBy: z.string(),
    requestedAt: Timestamp,
    expiresAt: Timestamp,
    resolvedBy: z.string().nullable(),
    resolvedAt: Timestamp.nullable(),
    comment: z.string().nullable(),
    override: Override.meta({ description: 'By which the run passes the promotion policy of its environment' }),
  })
  .meta({ id: 'Approval' });

export const ApprovalWithVotes = Approval.extend({
  votes: z.array(
    z.object({
      decision: z.enum(['approve', 'reject']),
      by: z.string(),
      comment: z.string().nullable(),
      at: Timestamp,
    }),
  ),
  canDecide: z
    .object({ allowed: z.boolean(), reason: z.string().nullable() })
    .meta({ description: 'Whether the caller may approve it now, and why not' }),
  changes: z.object({ packages: z.int(), commits: z.int(), workItems: z.int() }).nullable().optional().meta({
    description:
      'How much the release changes in the environment against what runs there now; null: the run takes no release there. Lists have it with `includeChanges=true`',
  }),
}).meta({ id: 'ApprovalWithVotes' });

export const ApprovalWithSteps = ApprovalWithVotes.extend({
  steps: z.array(
    z.object({
      status: ApprovalStatus.meta({ description: 'Status of the approval after the step' }),
      source: z
        .string()
        .meta({ description: 'run, vote, timer, worker, release_candidate, newer_request or run_ended' }),
      vote: z.enum(['approve', 'reject']).nullable(),
      by: z.string(),
      comment: z.string().nullable(),
      occurredAt: Timestamp,
    }),
  ),
}).meta({ id: 'ApprovalWithSteps' });

const CHANGES_MAX = 50;

export const ApprovalsQuery = z
  .strictObject({
    status: ApprovalStatus.optional().meta({ description: 'Default: `requested`, the open ones' }),
    mine: queryFlag(false).meta({ description: 'Only approvals that the caller may decide and has not decided yet' }),
    repositoryIdentifier: RepositoryIdentifier.optional(),
    environment: Name.optional(),
    sort: z.enum(APPROVAL_SORTS).optional().meta({ description: 'With `-` the latest first. Default: `-requestedAt`' }),
    limit: queryInt(1, 200, 50),
    offset: queryInt(0, 1_000_000, 0),
    includeChanges: queryFlag(false).meta({
      description: `Add \`changes\`; with a \`limit\` of at most ${CHANGES_MAX}`,
    }),
  })
  .refine(({ includeChanges, limit }) => !includeChanges || limit <= CHANGES_MAX, {
    path: ['limit'],
    message: `must be at most ${CHANGES_MAX} with includeChanges`,
  });

const DateTimeOrDay = z.union([DateTime, Day]);

export const ComplianceQuery = z.strictObject({
  repositoryIdentifier: RepositoryIdentifier,
  status: z.enum(COMPLIANCE_STATUSES).optional().meta({
    description:
      '`overridden`: an override of the promotion policy where nobody was asked; `not_requested` and `policy_violated`, of deployments, imply `includeUnapproved`',
  }),
  taskType: Name.optional(),
  environment: Name.optional(),
  domain: Name.optional(),
  requestedBy: Name.optional(),
  resolvedBy: Name.optional(),
  from: DateTimeOrDay.optional().meta({
    description: 'Time of the step, inclusive; a day starts at midnight UTC',
  }),
  to: DateTimeOrDay.optional().meta({ description: 'Exclusive' }),
  year: z
    .string()
    .regex(/^[12]\d{3}$/, 'must be a year')
    .optional()
    .meta({ description: 'A calendar year in UTC; overrides `from` and `to`' }),
  limit: queryInt(1, 1_000, 100).meta({ description: 'JSON only' }),
  offset: queryInt(0, 10_000_000, 0),
  format: z.enum(['json', 'csv']).optional().meta({ description: 'Default: `json`; `csv` returns the full report' }),
  includeChangelog: queryFlag(false),
  includeUnapproved: queryFlag(false).meta({
    description:
      'Includes the deployments to release environments that nobody approved, as rows with status `not_requested`, and those that broke a policy',
  }),
});

const totals = { totalCommits: z.int(), totalWorkItems: z.int(), totalPullRequests: z.int() };
const ReleaseChangelog = z
  .object({
    since: z.string().nullable().meta({ description: 'Name of the previous candidate; null: this is the first' }),
    packages: z
      .array(
        z.object({
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
        }),
      )
      .meta({ description: 'Packages that changed, at most 100' }),
    ...totals,
    added: SideSummary,
    removed: SideSummary,
    isTruncated: z.boolean(),
    definition: z.unknown().meta({ description: 'The changelog in the release definition' }),
  })
  .meta({
    id: 'ReleaseChangelog',
    description:
      'What is new in the release; totals count distinct items over all packages. `added` is what it brings, `removed` what it takes back of the previous candidate; the totals beside them are those of `added`, for downgraded packages of `removed`',
  });

export const CompliancePage = z.object({
  items: z.array(
    z.object({
      id: z.uuid(),
      approvalId: z.uuid().nullable().meta({ description: 'Null if no approval was requested' }),
      executionId: z
        .string()
        .nullable()
        .meta({ description: 'The run, or the `executionId` of a deployment that was reported' }),
      taskType: z.string(),
      repositoryIdentifier: z.string(),
      environment: z.string().nullable(),
      domain: z.string().nullable(),
      releaseName: z.string().nullable(),
      status: z.enum(COMPLIANCE_STATUSES),
      requestedBy: z.string(),
      requestedAt: Timestamp,
      resolvedBy: z.string().nullable(),
      resolvedAt: Timestamp.nullable(),
      responseTimeMs: z.number().nullable(),
      approvers: z.array(z.string()),
      comment: z.string().nullable(),
      source: z.string(),
      override: Override.meta({
        description: 'By which an owner passed the promotion policy of the environment for this run',
      }),
      policyViolations: PolicyViolations,
      changelog: ReleaseChangelog.nullish(),
    }),
  ),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
});
