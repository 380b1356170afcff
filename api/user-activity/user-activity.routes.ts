import type { z } from 'zod';
import { type ShownPullRequest, userActivity } from '../../domain/user-activity/activity.ts';
import { orgAddress } from '../../domain/crm-orgs/org-address-rules.ts';
import { isActive } from '../../domain/review-assignments/assignment-rules.ts';
import { isoOf } from '../../domain/shared/date-time-rules.ts';
import type { ActivityAssignment } from '../../domain/user-activity/review-environments.queries.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { ActivityQuery, UserActivity } from './user-activity.schemas.ts';

export const userActivityRoutes = [
  defineRoute({
    operationId: 'getUserActivity',
    method: 'get',
    path: '/api/users/me/activity',
    group: 'Users',
    summary: "Show the caller's pull requests and review environments",
    description: [
      'What is shown was told by the hooks of the git hosts (`POST /api/hooks/{host}`) and read from their lists: every 15 minutes where a pull request changed in the last 14 days, else every 6 hours, as far as there is an integration for the host. No host is asked for a reply. Files and distances from the base branch are those of the mirror, of forks those of the host.',
      'The caller is found by the accounts at git hosts that are linked to the user; `githubUsername`, `adoUsername` and `gitlabUsername` name others instead, and are not stored. Links to orgs lead through the front door of this service: no reply has a credential. A repository that is not registered gets 400.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ActivityQuery,
    status: 200,
    response: UserActivity,
    async handle(
      { query: { repositoryIdentifier, githubUsername, adoUsername, gitlabUsername } },
      { actor, reads, now, publicUrl },
    ) {
      const generatedAt = now();
      const overrides = { 'host-a': githubUsername, 'host-b': adoUsername, 'host-c': gitlabUsername };
      const question = { repositoryIdentifiers: repositoryIdentifier, overrides };
      const { identity, repositories, devEnvironments } = await userActivity(reads, actor, question, generatedAt);
      const { names, isLinked, source, hint } = identity;
      return {
        identity: {
          email: actor.email,
          providerLinked: isLinked,
          usernames: {
            github: names['host-a'][0] ?? null,
            azureDevops: names['host-b'][0] ?? null,
            gitlab: names['host-c'][0] ?? null,
          },
          source,
          hint,
        },
        repositories: repositories.map(({ pullRequests, reviewEnvironments, ...repository }) => {
          const environments = reviewEnvironments.map((each) =>
            reviewEnvironmentOut(publicUrl, repository.repositoryIdentifier, each),
          );
          const ofNumber = new Map(environments.map((each) => [each.prNumber, each]));
          const listOf = (list: readonly ShownPullRequest[]) =>
            list.map((shown) => pullRequestOut(shown, ofNumber.get(shown.number) ?? null));
          return {
            ...repository,
            pullRequests: {
              open: listOf(pullRequests.open),
              inReview: listOf(pullRequests.inReview),
              mergedRecently: listOf(pullRequests.mergedRecently),
              closedRecently: listOf(pullRequests.closedRecently),
              awaitingMyReview: listOf(pullRequests.awaitingMyReview),
            },
            reviewEnvironments: environments,
          };
        }),
        devEnvironments: devEnvironments.map(({ targetType, targetName, orgUsername, state, ...assignment }) => ({
          poolTag: targetType === 'pool' ? targetName : null,
          sandboxName: orgUsername,
          alias: targetName,
          status: state,
          instanceUrl: orgUsername === null ? null : publicUrl + orgAddress(orgUsername),
          repositoryIdentifier: assignment.repositoryIdentifier,
          assignedAt: assignment.assignedAt,
          expiresAt: assignment.expiresAt,
          isImmortal: assignment.isImmortal,
        })),
        generatedAt,
      };
    },
  }),
];

type RepositoryOut = z.input<typeof UserActivity>['repositories'][number];
type Out = RepositoryOut['pullRequests']['open'][number];
type EnvironmentOut = RepositoryOut['reviewEnvironments'][number];

const pullRequestOut = (shown: ShownPullRequest, reviewEnvironment: EnvironmentOut | null): Out => ({
  issueTitle: shown.title,
  issueUrl: shown.url,
  number: shown.number,
  branch: shown.branch,
  baseBranch: shown.baseBranch,
  author: shown.author,
  authorAvatarUrl: shown.authorAvatarUrl,
  labels: shown.labels,
  elapsedTime: shown.elapsedMs,
  state: shown.state === 'open' ? 'open' : 'closed',
  merged: shown.state === 'merged',
  headSha: shown.headSha,
  mergeCommitSha: shown.mergeCommitSha,
  files: shown.files,
  commitsAhead: shown.commitsAhead,
  commitsBehind: shown.commitsBehind,
  metadata: {
    isDraft: shown.isDraft,
    reviewers: shown.reviewers,
    openedAt: shown.openedAt,
    changedAt: shown.changedAt,
    endedAt: shown.endedAt,
  },
  reviewEnvironment,
  error: shown.detailsError,
  buildActionLink: shown.buildLink,
  checkStatus: shown.check.status,
  checkConclusion: shown.check.conclusion,
  validationActionLink: shown.validationLink,
  build: shown.build,
});

const msOf = (text: string | null): number | null => (text === null ? null : Date.parse(isoOf(text)));

const reviewEnvironmentOut = (
  publicUrl: string,
  repositoryIdentifier: string,
  { targetType, targetName, orgUsername, ...assignment }: ActivityAssignment,
): EnvironmentOut => ({
  orgId: assignment.platformOrgId,
  username: orgUsername,
  browserLoginUrl: `${publicUrl}/review-env/${assignment.id}`,
  apiAuthUrl: null,
  type: targetType,
  branch: assignment.branch,
  pool: targetType === 'pool' ? targetName : null,
  environmentName: targetType === 'environment' ? targetName : null,
  status: assignment.state,
  isActive: isActive(assignment.state),
  name: targetName,
  issue: null,
  expiryDate: msOf(assignment.expiresAt),
  assignedAt: msOf(assignment.assignedAt),
  createdAt: Date.parse(isoOf(assignment.createdAt)),
  isImmortal: assignment.isImmortal,
  loginUrl: orgUsername === null ? null : publicUrl + orgAddress(orgUsername),
  prNumber: Number(assignment.assignmentKey),
  repositoryIdentifier,
});
