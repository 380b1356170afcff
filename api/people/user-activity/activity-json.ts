import type { z } from 'zod';
import { orgAddress } from '../../../domain/orgs/crm-orgs/org-rules.ts';
import { isActive } from '../../../domain/review/review-assignments/assignment-rules.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import type { ShownPullRequest, userActivity } from '../../../domain/people/user-activity/activity.ts';
import type { ActivityAssignment } from '../../../domain/people/user-activity/review-environments.queries.ts';
import type { UserActivity } from './user-activity.schemas.ts';

type Activity = Awaited<ReturnType<typeof userActivity>>;
type ActivityOut = z.output<typeof UserActivity>;
type RepositoryOut = ActivityOut['repositories'][number];
type PullRequestOut = RepositoryOut['pullRequests']['open'][number];
type EnvironmentOut = RepositoryOut['reviewEnvironments'][number];

/**
 * The reply `UserActivity` as JSON: to parse hundreds of pull requests with their files by the schema, or to put them
 * together step by step, would take most of the time of the request.
 */
export function activityJson(
  { identity, repositories, devEnvironments }: Activity,
  { email, publicUrl, generatedAt }: { email: string; publicUrl: string; generatedAt: Date },
): Buffer {
  const { names, isLinked, source, hint } = identity;
  const [github, azureDevops, gitlab] = (['host-a', 'host-b', 'host-c'] as const).map((host) => names[host][0] ?? null);
  const head = {
    identity: { email, providerLinked: isLinked, usernames: { github, azureDevops, gitlab }, source, hint },
    devEnvironments: devEnvironments.map((assignment) => devEnvironmentOut(publicUrl, assignment)),
    generatedAt: generatedAt.toISOString(),
  };
  const parts = [opened(head), ',"repositories":['];
  for (const [index, repository] of repositories.entries()) {
    if (index > 0) parts.push(',');
    addRepository(parts, publicUrl, repository);
  }
  parts.push(']}');
  return Buffer.from(parts.join(''));
}

/** The JSON of an object without its end, so that members can follow. */
const opened = (members: object): string => JSON.stringify(members).slice(0, -1);

function addRepository(
  parts: string[],
  publicUrl: string,
  { pullRequests, reviewEnvironments, ...repository }: Activity['repositories'][number],
): void {
  const environments = reviewEnvironments.map((each) =>
    reviewEnvironmentOut(publicUrl, repository.repositoryIdentifier, each),
  );
  const ofNumber = new Map(environments.map((each) => [each.prNumber, each]));
  parts.push(opened({ ...repository, reviewEnvironments: environments }), ',"pullRequests":{');
  for (const [index, [section, list]] of Object.entries(pullRequests).entries()) {
    parts.push(index > 0 ? ',"' : '"', section, '":[');
    for (const [at, shown] of list.entries()) {
      const { row } = shown;
      parts.push(at > 0 ? ',' : '', opened(pullRequestOut(shown, ofNumber.get(row.number) ?? null)));
      // What the database has as JSON is passed on as it is.
      parts.push(',"labels":', row.labels, ',"files":', row.files ?? 'null', '}');
    }
    parts.push(']');
  }
  parts.push('}}');
}

const timeOf = (text: string | null): string | null => (text === null ? null : isoOf(text));

const devEnvironmentOut = (
  publicUrl: string,
  assignment: Activity['devEnvironments'][number],
): ActivityOut['devEnvironments'][number] => ({
  poolTag: assignment.targetType === 'pool' ? assignment.targetName : null,
  sandboxName: assignment.orgUsername,
  alias: assignment.targetName,
  status: assignment.state,
  instanceUrl: assignment.orgUsername === null ? null : publicUrl + orgAddress(assignment.orgUsername),
  repositoryIdentifier: assignment.repositoryIdentifier,
  assignedAt: timeOf(assignment.assignedAt),
  expiresAt: timeOf(assignment.expiresAt),
  isImmortal: assignment.isImmortal,
});

const pullRequestOut = (
  { row, ...shown }: ShownPullRequest,
  reviewEnvironment: EnvironmentOut | null,
): Omit<PullRequestOut, 'labels' | 'files'> => ({
  issueTitle: row.title,
  issueUrl: row.url,
  number: row.number,
  branch: row.branch,
  baseBranch: row.baseBranch,
  author: row.author,
  authorAvatarUrl: row.authorAvatarUrl,
  elapsedTime: shown.elapsedMs,
  state: row.state === 'open' ? 'open' : 'closed',
  merged: row.state === 'merged',
  headSha: row.headSha,
  mergeCommitSha: row.mergeCommitSha,
  commitsAhead: row.commitsAhead,
  commitsBehind: row.commitsBehind,
  metadata: {
    isDraft: row.isDraft,
    reviewers: shown.reviewers,
    openedAt: shown.openedAt,
    changedAt: isoOf(row.changedAt),
    endedAt: shown.endedAt,
  },
  reviewEnvironment,
  error: row.detailsError,
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
