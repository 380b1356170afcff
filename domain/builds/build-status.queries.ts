import type { ProjectFacts } from '../projects/projects.queries.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import {
  type BuildContext,
  type BuildContexts,
  type BuildState,
  eventOfMove,
  isNewer,
  overallState,
} from './build-state-rules.ts';
import type { PushEvent, StatusEvent } from './host-events-rules.ts';

type Sql = Pick<Tx, 'sql' | 'tenantId'>;

/** Of the build that told of itself last. */
export interface CiInfo {
  service: string;
  name: string;
  buildUrl: string | null;
  buildNumber: string | null;
  /** What tells this build from others of the commit. */
  job: string;
  branch: string | null;
  isPr: boolean;
  prNumber: number | null;
}

interface Stored {
  branch: string | null;
  contexts: BuildContexts;
  state: BuildState;
}

/** The row of a commit, made where there is none, and locked until this transaction ends. */
async function lockedStatus(
  { sql, tenantId }: Tx,
  projectId: string,
  { commitId, date }: PushEvent | StatusEvent,
): Promise<Stored> {
  await sql(
    `insert into build_status (tenant_id, project_id, commit_sha, commit_date) values (?, ?, ?, coalesce(?::timestamptz, now()))
     on conflict (tenant_id, project_id, commit_sha) do nothing`,
    [tenantId, projectId, commitId, date],
  );
  const [row] = await sql<Stored>(
    `select branch, workflow_status as contexts, state from build_status
     where tenant_id = ? and project_id = ? and commit_sha = ? for update`,
    [tenantId, projectId, commitId],
  );
  if (!row) throw new Error('a build status that was just made is gone');
  return row;
}

/** Notes a pushed commit: from now on it is in the list of builds. */
export async function notePush(tx: Tx, project: ProjectFacts, event: PushEvent): Promise<void> {
  await tx.sql(
    `insert into build_status as b (tenant_id, project_id, commit_sha, branch, commit_message, commit_author, commit_date)
     values (?, ?, ?, ?, ?, ?, coalesce(?::timestamptz, now()))
     on conflict (tenant_id, project_id, commit_sha) do update set branch = coalesce(b.branch, excluded.branch),
       commit_message = coalesce(excluded.commit_message, b.commit_message), commit_author = coalesce(excluded.commit_author, b.commit_author),
       commit_date = coalesce(?::timestamptz, b.commit_date), last_updated_at = now()`,
    [tx.tenantId, project.id, event.commitId, event.branch, event.message, event.author, event.date, event.date],
  );
}

/** Notes what a host says of a build, unless it said something later before; the subscribers are told when the whole moves. */
export async function noteStatus(tx: Tx, project: ProjectFacts, event: StatusEvent): Promise<void> {
  const stored = await lockedStatus(tx, project.id, event);
  const told: BuildContext = { state: event.state, at: event.at, url: event.buildUrl };
  const known = Object.hasOwn(stored.contexts, event.context) ? stored.contexts[event.context] : undefined;
  if (!isNewer(told, known)) return;
  const contexts = { ...stored.contexts, [event.context]: told };
  const state = overallState(contexts);
  const branch = stored.branch ?? event.branch;
  const { context, buildUrl, buildNumber, isPr, prNumber } = event;
  const ciInfo: CiInfo = {
    service: project.platform,
    name: context,
    buildUrl,
    buildNumber,
    job: context,
    branch: event.branch ?? branch,
    isPr,
    prNumber,
  };
  await tx.sql(
    `update build_status set workflow_status = ?::jsonb, ci_info = ?::jsonb, state = ?, branch = ?, commit_message = coalesce(commit_message, ?),
       commit_author = coalesce(commit_author, ?), commit_date = coalesce(?::timestamptz, commit_date), last_updated_at = now()
     where tenant_id = ? and project_id = ? and commit_sha = ?`,
    [
      JSON.stringify(contexts),
      JSON.stringify(ciInfo),
      state,
      branch,
      event.message,
      event.author,
      event.date,
      tx.tenantId,
      project.id,
      event.commitId,
    ],
  );
  const before = Object.keys(stored.contexts).length === 0 ? null : stored.state;
  const move = eventOfMove(before, state);
  if (move) tell(tx, project, event, { move, before, state, branch });
}

interface Move {
  move: 'build.started' | 'build.completed' | 'build.failed';
  before: BuildState | null;
  state: BuildState;
  branch: string | null;
}

function tell(
  tx: Tx,
  project: ProjectFacts,
  { commitId, buildUrl, buildNumber, at }: StatusEvent,
  { move, before, state, branch }: Move,
): void {
  const isStart = move === 'build.started';
  emitEvent(tx, move, {
    repositoryIdentifier: project.identifier,
    branch: branch ?? project.defaultBranch,
    commitSha: commitId,
    status: isStart ? 'running' : move === 'build.completed' ? 'completed' : 'failed',
    buildUrl,
    buildNumber,
    ...(isStart
      ? { startedAt: at }
      : { endedAt: at, ...(move === 'build.failed' && { error: `The build was reported as ${state}` }) }),
  });
  tx.audit({
    source: 'project',
    action: move,
    entityType: 'build',
    entityId: commitId,
    repositoryIdentifier: project.identifier,
    summary: `${project.platform} reported builds of ${commitId.slice(0, 12)} as ${state}`,
    before: { state: before },
    after: { state, buildUrl, buildNumber },
  });
}

export interface BuildRow {
  commitId: string;
  commitMessage: string | null;
  commitAuthor: string | null;
  commitDate: string;
  ciInfo: CiInfo | null;
  contexts: BuildContexts;
  state: BuildState;
  branch: string | null;
  firstSeenAt: string;
  lastUpdatedAt: string;
  /** Its number in the history; null while it is not imported. */
  seq: number | null;
}

/** Commits that change one of some packages against their first parent. */
const CHANGED = `select g.seq from git_commit_package g where g.tenant_id = ? and g.project_id = ? and g.parent_bits & 1 = 1
  and g.package_no in (select jsonb_array_elements_text(?::jsonb)::int)`;

/** One page of the builds of a project, newest commit first; with packages: those whose commits change some of them. */
export async function listBuilds(
  { sql, tenantId }: Sql,
  projectId: string,
  packageNumbers: readonly number[] | undefined,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ builds: BuildRow[]; total: number }> {
  const place = [tenantId, projectId];
  const changed = packageNumbers ? [...place, JSON.stringify(packageNumbers)] : [];
  const commit =
    'join git_commit c on c.tenant_id = b.tenant_id and c.project_id = b.project_id and c.sha = b.commit_sha';
  // The page goes along the index and probes for packages, to which `offset 0` holds the planner; the count joins as a whole.
  const [builds, [counted]] = await Promise.all([
    sql<BuildRow>(
      `select b.commit_sha as "commitId", coalesce(b.commit_message, c.subject) as "commitMessage", coalesce(c.author_name, b.commit_author) as "commitAuthor",
         b.commit_date as "commitDate", b.ci_info as "ciInfo", b.workflow_status as contexts, b.state, b.branch,
         b.first_seen_at as "firstSeenAt", b.last_updated_at as "lastUpdatedAt", c.seq
       from build_status b left ${commit}
       where b.tenant_id = ? and b.project_id = ? ${packageNumbers ? `and exists (${CHANGED} and g.seq = c.seq offset 0)` : ''}
       order by b.commit_date desc, b.commit_sha limit ? offset ?`,
      [...place, ...changed, limit, offset],
    ),
    sql<{ total: number }>(
      `select count(*)::int as total from build_status b ${packageNumbers ? commit : ''}
       where b.tenant_id = ? and b.project_id = ? ${packageNumbers ? `and c.seq in (${CHANGED})` : ''}`,
      [...place, ...changed],
    ),
  ]);
  return { builds, total: counted?.total ?? 0 };
}

/** Numbers of those commits that were built with success. */
export async function builtCommits({ sql, tenantId }: Sql, projectId: string): Promise<Set<number>> {
  const rows = await sql<{ seq: number }>(
    `select c.seq from build_status b join git_commit c on c.tenant_id = b.tenant_id and c.project_id = b.project_id and c.sha = b.commit_sha
     where b.tenant_id = ? and b.project_id = ? and b.state = 'succeeded' order by b.commit_date desc limit 1000`,
    [tenantId, projectId],
  );
  return new Set(rows.map(({ seq }) => seq));
}
