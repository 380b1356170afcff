import { sql } from 'kysely';
import type { BuildState, CiInfo } from '../../ci/builds/build-state-rules.ts';
import { isOneOf } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { ProjectConfiguration } from '../../projects/projects/projects.entities.ts';
import type { PullRequestState, Requested, Reviews } from '../../code/pull-requests/pull-request-rules.ts';

/** The accounts at git hosts that a person has linked. */
export const linkedNames = ({ db }: Pick<Reads, 'db'>, userId: string) =>
  db.selectFrom('user_identity').where('userId', '=', userId).select(['provider', 'username']).execute();

/** Projects with how fresh their pull requests are, by identifier. @param identifiers undefined: all that the caller may see. */
export const projectsOfActivity = ({ db, tenantId }: Reads, identifiers: readonly string[] | undefined) =>
  db
    .selectFrom('project as p')
    .leftJoin('pull_request_refresh as r', (join) =>
      join.onRef('r.tenantId', '=', 'p.tenantId').onRef('r.projectId', '=', 'p.id'),
    )
    .where('p.tenantId', '=', tenantId)
    .$if(identifiers !== undefined, (query) => query.where((eb) => isOneOf(eb, 'p.identifier', identifiers ?? [])))
    .orderBy('p.identifier')
    .select(['p.id', 'p.identifier', 'p.platform', 'r.refreshedAt', 'r.hookAt'])
    .select(sql<ProjectConfiguration['domains'] | null>`p.configuration -> 'domains'`.as('domains'))
    .execute();

export type ActivityProject = Awaited<ReturnType<typeof projectsOfActivity>>[number];

/** Where a pull request is shown. */
export type ActivitySection = 'open' | 'inReview' | 'mergedRecently' | 'closedRecently' | 'awaitingMyReview';

export interface ActivityPullRequest {
  section: ActivitySection;
  projectId: string;
  number: number;
  title: string;
  url: string | null;
  state: PullRequestState;
  isDraft: boolean;
  author: string | null;
  authorAvatarUrl: string | null;
  branch: string;
  baseBranch: string;
  headSha: string | null;
  mergeCommitSha: string | null;
  /** JSON of `Label[]`, which nobody here reads. */
  labels: string;
  requested: Requested;
  reviews: Reviews;
  openedAt: string;
  /** When it ended; null: it is open. */
  endedAt: string | null;
  changedAt: string;
  /** JSON of `ChangedFiles`. */
  files: string | null;
  packages: string[] | null;
  commitsAhead: number | null;
  commitsBehind: number | null;
  detailsError: string | null;
  /** Null: no build of its commit was reported. */
  buildState: BuildState | null;
  ciInfo: CiInfo | null;
  buildUpdatedAt: string | null;
}

/** The most of a project in one list: of those that are open, and of those that have ended. */
export const OPEN_MAX = 100;
export const RECENT_MAX = 20;

const mine = (state: PullRequestState, tenantId: unknown) =>
  sql`r.tenant_id = ${tenantId} and r.project_id = w.project_id and r.author_key = w.name and r.state = ${sql.lit(state)}`;
const ended = sql`coalesce(r.ended_at, r.changed_at)`;

const PULL_REQUESTS = statement<{ tenantId: string; projectIds: string[]; names: string[]; since: string }>()(
  (_, { tenantId, projectIds, names, since }) => sql<ActivityPullRequest>`
    select f.section, f.project_id as "projectId", f.number, f.title, f.url, f.state, f.is_draft as "isDraft", f.author,
      f.author_avatar_url as "authorAvatarUrl", f.branch, f.base_branch as "baseBranch", f.head_sha as "headSha",
      f.merge_commit_sha as "mergeCommitSha", f.labels::text as labels, f.requested, f.reviews, f.opened_at as "openedAt",
      case when f.state <> 'open' then coalesce(f.ended_at, f.changed_at) end as "endedAt", f.changed_at as "changedAt",
      f.files::text as files, f.packages, f.commits_ahead as "commitsAhead", f.commits_behind as "commitsBehind",
      f.details_error as "detailsError", b.state as "buildState", b.ci_info as "ciInfo",
      b.last_updated_at as "buildUpdatedAt"
    from unnest(${projectIds}::uuid[], ${names}::text[]) as w (project_id, name)
    cross join lateral (
      (select case when r.is_in_review then 'inReview' else 'open' end as section, r.* from pull_request r
       where ${mine('open', tenantId)} order by r.changed_at desc, r.number limit ${sql.lit(OPEN_MAX)})
      union all
      (select 'mergedRecently', r.* from pull_request r
       where ${mine('merged', tenantId)} and ${ended} > ${since} order by ${ended} desc, r.number limit ${sql.lit(RECENT_MAX)})
      union all
      (select 'closedRecently', r.* from pull_request r
       where ${mine('closed', tenantId)} and ${ended} > ${since} order by ${ended} desc, r.number limit ${sql.lit(RECENT_MAX)})
      union all
      (select 'awaitingMyReview', r.* from pull_request r
       where r.tenant_id = ${tenantId} and r.project_id = w.project_id and r.state = 'open' and w.name = any (r.awaited)
       order by r.changed_at desc, r.number limit ${sql.lit(OPEN_MAX)})) f
    left join build_status b on b.tenant_id = ${tenantId} and b.project_id = f.project_id and b.commit_sha = f.head_sha`,
);

/** Pull requests of people in projects: those by a name in its project, and those that await its review. */
export const pullRequestsOf = (
  { db, tenantId }: Reads,
  people: readonly { projectId: string; name: string }[],
  since: Date,
): Promise<ActivityPullRequest[]> =>
  PULL_REQUESTS(db, {
    tenantId,
    projectIds: people.map(({ projectId }) => projectId),
    names: people.map(({ name }) => name),
    since: since.toISOString(),
  });
