import { domainPackages, domainsOf } from '../../ci/builds/domain-packages-rules.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { unregistered } from '../../kernel/shared/errors.ts';
import { isStale, RECENT_MS } from '../../code/pull-requests/refresh-rules.ts';
import { type AssignmentType, keyOf } from '../../review/review-assignments/assignment-rules.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import { type ActivityIdentity, activityIdentity, checkOf, elapsedMs, type NameOverrides } from './activity-rules.ts';
import {
  type ActivityProject,
  type ActivityPullRequest,
  type ActivitySection,
  linkedNames,
  projectsOfActivity,
  pullRequestsOf,
} from './activity.queries.ts';
import { type ActivityAssignment, assignmentsOfKeys } from './review-environments.queries.ts';

export interface ActivityQuestion {
  /** Empty: all projects that the caller may see. */
  repositoryIdentifiers: readonly string[];
  overrides: NameOverrides;
}

/** A person's pull requests and review environments, by project. Throws `invalid_request` for a repository that is not registered. */
export async function userActivity(
  reads: Reads,
  actor: Actor,
  { repositoryIdentifiers, overrides }: ActivityQuestion,
  now: Date,
) {
  const wanted = [...new Set(repositoryIdentifiers)];
  const isUser = actor.type === 'user';
  const [linked, projects] = await Promise.all([
    isUser ? linkedNames(reads, actor.id) : [],
    projectsOfActivity(reads, wanted.length === 0 ? undefined : wanted),
  ]);
  const known = new Set(projects.map(({ identifier }) => identifier));
  const missing = wanted.find((identifier) => !known.has(identifier));
  if (missing !== undefined) throw unregistered(missing);
  const identity = activityIdentity(linked, overrides, isUser);
  const people = peopleIn(projects, identity);
  const pullRequests =
    people.length === 0 ? [] : await pullRequestsOf(reads, people, new Date(now.getTime() - RECENT_MS));
  const assignments = await assignmentsOfKeys(reads, [
    ...pullRequests.map(({ projectId, number }) => ({ projectId, type: 'pr' as const, key: String(number) })),
    ...(isUser ? projects : []).map(({ id: projectId }) => ({
      projectId,
      type: 'user' as const,
      key: keyOf('user', actor.email),
    })),
  ]);
  const byProject = Map.groupBy(pullRequests, ({ projectId }) => projectId);
  const ofPullRequests = Map.groupBy(distinct(assignments, 'pr'), ({ projectId }) => projectId);
  const identifiers = new Map(projects.map(({ id, identifier }) => [id, identifier]));
  return {
    identity,
    repositories: projects.map((project) => ({
      repositoryIdentifier: project.identifier,
      stale: isStale({ refreshedAt: dateOf(project.refreshedAt), hookAt: dateOf(project.hookAt) }, now),
      pullRequests: sectionsOf(project, byProject.get(project.id) ?? [], now),
      reviewEnvironments: ofPullRequests.get(project.id) ?? [],
    })),
    devEnvironments: distinct(assignments, 'user').map((assignment) => ({
      ...assignment,
      repositoryIdentifier: identifiers.get(assignment.projectId) ?? '',
    })),
  };
}

/** A pull request may be shown in two places: its assignment counts once. */
const distinct = (assignments: readonly ActivityAssignment[], type: AssignmentType): ActivityAssignment[] => [
  ...new Map(assignments.flatMap((each) => (each.assignmentType === type ? [[each.id, each] as const] : []))).values(),
];

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(isoOf(text)));

const peopleIn = (projects: readonly ActivityProject[], { names }: ActivityIdentity) =>
  projects.flatMap(({ id, platform }) => names[platform].map((name) => ({ projectId: id, name })));

type Shown = ReturnType<typeof shown>;

function sectionsOf(project: ActivityProject, rows: readonly ActivityPullRequest[], now: Date) {
  const sections: Record<ActivitySection, Shown[]> = {
    open: [],
    inReview: [],
    mergedRecently: [],
    closedRecently: [],
    awaitingMyReview: [],
  };
  // Somebody with two names at a host may be asked by both.
  const seen = new Set<string>();
  for (const row of rows) {
    const key = `${row.section} ${row.number}`;
    if (!seen.has(key)) sections[row.section].push(shown(project, row, now));
    seen.add(key);
  }
  return sections;
}

function shown({ domains }: ActivityProject, row: ActivityPullRequest, now: Date) {
  const { ciInfo, buildState } = row;
  const [openedAt, endedAt] = [isoOf(row.openedAt), row.endedAt && isoOf(row.endedAt)];
  const packages = row.packages ?? [];
  const check = checkOf(buildState);
  return {
    row,
    openedAt,
    endedAt,
    elapsedMs: elapsedMs(openedAt, endedAt, now),
    check,
    build:
      buildState === null
        ? null
        : {
            commitId: row.headSha ?? '',
            overallState: buildState,
            ciService: ciInfo?.service ?? null,
            buildUrl: ciInfo?.buildUrl ?? null,
            buildNumber: ciInfo?.buildNumber ?? null,
            lastUpdatedAt: row.buildUpdatedAt && isoOf(row.buildUpdatedAt),
            domains: domainsOf(domainPackages(domains ?? [], packages), new Set(packages)).map(({ name }) => ({
              domain: name,
              state: buildState,
            })),
          },
    buildLink: ciInfo?.buildUrl ?? null,
    validationLink: ciInfo?.isPr === true ? ciInfo.buildUrl : null,
    reviewers: [
      ...row.requested.users.map((name) => ({ name, isTeam: false, state: 'requested' as const })),
      ...row.requested.teams.map((name) => ({ name, isTeam: true, state: 'requested' as const })),
      ...Object.entries(row.reviews).map(([name, { state }]) => ({ name, isTeam: false, state })),
    ],
  };
}

export type ShownPullRequest = Shown;
