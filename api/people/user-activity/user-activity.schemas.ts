import { z } from 'zod';
import { BUILD_STATES } from '../../../domain/ci/builds/build-state-rules.ts';
import { OPEN_MAX, RECENT_MAX } from '../../../domain/people/user-activity/activity.queries.ts';
import { CHECK_CONCLUSIONS, CHECK_STATUSES } from '../../../domain/people/user-activity/activity-rules.ts';
import { NAME_MAX, queryList, RepositoryIdentifier, Timestamp, WITHOUT_CONTROLS } from '../../http/parameters.ts';

const HostName = z.string().trim().min(1).max(NAME_MAX).regex(WITHOUT_CONTROLS, 'must not contain control characters');

export const ActivityQuery = z.strictObject({
  repositoryIdentifier: queryList(RepositoryIdentifier, 50).meta({
    description: 'Repeated or comma-separated, at most 50; none: all projects that the caller may see',
  }),
  githubUsername: HostName.optional().meta({ description: 'A name at host-a instead of the linked one; not stored' }),
  adoUsername: HostName.optional().meta({
    description: 'An address at host-b instead of the linked one; not stored',
  }),
  gitlabUsername: HostName.optional().meta({ description: 'A name at host-c, where none can be linked; not stored' }),
});

const ReviewEnvironment = z
  .object({
    orgId: z.string().nullable(),
    username: z.string().nullable(),
    browserLoginUrl: z.url().meta({ description: 'Page of the assignment on this service' }),
    apiAuthUrl: z
      .null()
      .meta({ description: 'No reply has a credential: `POST /api/auth/crm/access-token` gives one' }),
    type: z.enum(['pool', 'environment']),
    branch: z.string().nullable(),
    pool: z.string().nullable(),
    environmentName: z.string().nullable(),
    status: z.string(),
    isActive: z.boolean(),
    name: z.string(),
    issue: z.string().nullable().meta({ description: 'Null: they belong to pull requests' }),
    loginUrl: z.url().nullable().meta({ description: 'Opens the org through the front door of this service' }),
    expiryDate: z.number().nullable().meta({ description: 'Milliseconds since 1970, as all times here' }),
    assignedAt: z.number().nullable(),
    createdAt: z.number(),
    isImmortal: z.boolean(),
    prNumber: z.int().nullable(),
    repositoryIdentifier: z.string(),
  })
  .meta({ id: 'ActivityReviewEnvironment' });

const Paths = z.array(z.string());

const PullRequestOut = z
  .object({
    issueTitle: z.string(),
    issueUrl: z.string().nullable(),
    number: z.int(),
    branch: z.string(),
    baseBranch: z.string(),
    author: z.string().nullable(),
    authorAvatarUrl: z.string().nullable(),
    labels: z.array(z.object({ key: z.string(), description: z.string().nullable(), color: z.string().nullable() })),
    elapsedTime: z.number().meta({ description: 'Milliseconds that it has been open: until now, or until it ended' }),
    state: z.enum(['open', 'closed']),
    merged: z.boolean(),
    headSha: z.string().nullable(),
    mergeCommitSha: z.string().nullable(),
    files: z
      .object({
        added: Paths,
        deleted: Paths,
        modified: Paths,
        truncated: z.boolean().meta({ description: 'There are more than the first 300' }),
      })
      .nullable()
      .meta({ description: 'Null while they are not known' }),
    commitsAhead: z.int().nullable(),
    commitsBehind: z.int().nullable(),
    metadata: z.object({
      isDraft: z.boolean(),
      reviewers: z.array(
        z.object({
          name: z.string(),
          isTeam: z.boolean(),
          state: z.enum(['requested', 'approved', 'changes_requested', 'commented', 'dismissed']),
        }),
      ),
      openedAt: Timestamp,
      changedAt: Timestamp,
      endedAt: Timestamp.nullable(),
    }),
    reviewEnvironment: ReviewEnvironment.nullable(),
    error: z.string().nullable().meta({ description: 'Why its files and commits are not known' }),
    buildActionLink: z.string().nullable().meta({ description: 'The build of its commit that was reported last' }),
    checkStatus: z.enum(CHECK_STATUSES).nullable().meta({ description: 'State of all builds of its commit together' }),
    checkConclusion: z.enum(CHECK_CONCLUSIONS).nullable(),
    validationActionLink: z
      .string()
      .nullable()
      .meta({ description: 'The same, where the host reported it as a build of the pull request' }),
    build: z
      .object({
        commitId: z.string(),
        overallState: z.enum(BUILD_STATES),
        ciService: z.string().nullable(),
        buildUrl: z.string().nullable(),
        buildNumber: z.string().nullable(),
        lastUpdatedAt: Timestamp.nullable(),
        domains: z
          .array(z.object({ domain: z.string(), state: z.enum(BUILD_STATES) }))
          .meta({ description: 'Domains with packages that it changes' }),
      })
      .nullable(),
  })
  .meta({ id: 'ActivityPullRequest' });

const open = `Newest change first, at most ${OPEN_MAX}`;
const recent = `Of the last 14 days, newest first, at most ${RECENT_MAX}`;

export const UserActivity = z
  .object({
    identity: z.object({
      email: z.string(),
      providerLinked: z.boolean(),
      usernames: z.object({
        github: z.string().nullable(),
        azureDevops: z.string().nullable(),
        gitlab: z.string().nullable(),
      }),
      source: z.enum(['linked', 'override', 'none']),
      hint: z.string().nullable().meta({ description: 'What to do where no name at a git host is known' }),
    }),
    repositories: z.array(
      z.object({
        repositoryIdentifier: z.string(),
        stale: z.boolean().meta({
          description:
            'What is shown may be out of date: the host was never read, or not within 45 minutes, and sent no hook about a pull request since',
        }),
        pullRequests: z.object({
          open: z
            .array(PullRequestOut)
            .meta({ description: `By the caller: drafts, and where nobody is asked to review. ${open}` }),
          inReview: z
            .array(PullRequestOut)
            .meta({ description: `By the caller: somebody was asked to review, or has done so. ${open}` }),
          mergedRecently: z.array(PullRequestOut).meta({ description: recent }),
          closedRecently: z.array(PullRequestOut).meta({ description: `Closed without a merge. ${recent}` }),
          awaitingMyReview: z.array(PullRequestOut).meta({
            description: `By anybody, where the caller was asked to review by name; hosts do not say who is in a team that was asked. ${open}`,
          }),
        }),
        reviewEnvironments: z
          .array(ReviewEnvironment)
          .meta({ description: 'Those of the pull requests that are shown' }),
      }),
    ),
    devEnvironments: z
      .array(
        z.object({
          poolTag: z.string().nullable(),
          sandboxName: z.string().nullable(),
          alias: z.string(),
          status: z.string(),
          instanceUrl: z.url().nullable().meta({ description: 'Opens the org through the front door of this service' }),
          repositoryIdentifier: z.string(),
          assignedAt: Timestamp.nullable(),
          expiresAt: Timestamp.nullable(),
          isImmortal: z.boolean(),
        }),
      )
      .meta({
        description:
          'Orgs and environments of the shown projects that are assigned to the caller, or that the caller waits for',
      }),
    generatedAt: Timestamp,
  })
  .meta({ id: 'UserActivity' });
