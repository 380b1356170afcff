import { sql } from 'kysely';
import { isOneOfNumbers } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { PushEvent, StatusEvent } from './host-events-rules.ts';

/** Where the status of a commit's builds is. */
interface StatusPlace {
  projectId: string;
  commitId: string;
}

/** Adds a pushed commit to the list of builds; what a hook reported of it before stays. */
export async function upsertPush(
  { db, tenantId }: Pick<Tx, 'db' | 'tenantId'>,
  projectId: string,
  { commitId, branch, message, author, date }: PushEvent,
): Promise<void> {
  await db
    .insertInto('build_status')
    .values({
      tenantId,
      projectId,
      commitSha: commitId,
      branch,
      commitMessage: message,
      commitAuthor: author,
      commitDate: date ?? sql<string>`now()`,
    })
    .onConflict((conflict) =>
      conflict.columns(['tenantId', 'projectId', 'commitSha']).doUpdateSet(({ fn, ref }) => ({
        branch: fn.coalesce('build_status.branch', 'excluded.branch'),
        commitMessage: fn.coalesce('excluded.commitMessage', 'build_status.commitMessage'),
        commitAuthor: fn.coalesce('excluded.commitAuthor', 'build_status.commitAuthor'),
        commitDate: date === null ? ref('build_status.commitDate') : ref('excluded.commitDate'),
        lastUpdatedAt: sql<string>`now()`,
      })),
    )
    .execute();
}

/** Adds a commit to the list of builds unless it is there. */
export async function insertStatus(
  { db, tenantId }: Pick<Tx, 'db' | 'tenantId'>,
  { projectId, commitId }: StatusPlace,
  date: StatusEvent['date'],
): Promise<void> {
  await db
    .insertInto('build_status')
    .values({ tenantId, projectId, commitSha: commitId, commitDate: date ?? sql<string>`now()` })
    .onConflict((conflict) => conflict.columns(['tenantId', 'projectId', 'commitSha']).doNothing())
    .execute();
}

/** Builds of a project with their commits, where these are imported. */
const buildsWithCommits = ({ db, tenantId }: Reads, projectId: string) =>
  db
    .selectFrom('build_status as b')
    .leftJoin('git_commit as c', (join) =>
      join
        .onRef('c.tenantId', '=', 'b.tenantId')
        .onRef('c.projectId', '=', 'b.projectId')
        .onRef('c.sha', '=', 'b.commitSha'),
    )
    .where('b.tenantId', '=', tenantId)
    .where('b.projectId', '=', projectId);

/** Numbers of the commits that change one of some packages against their first parent. */
const commitsChanging = ({ db, tenantId }: Reads, projectId: string, packages: readonly number[]) =>
  db
    .selectFrom('git_commit_package as g')
    .where('g.tenantId', '=', tenantId)
    .where('g.projectId', '=', projectId)
    .where(sql<boolean>`g.parent_bits & 1 = 1`)
    .where((eb) => isOneOfNumbers(eb, 'g.packageNo', packages))
    .select('g.seq');

/**
 * One page of the builds of a project, newest commit first.
 * @param packages only builds of commits that change one of these; undefined: all.
 */
export const buildsPage = (
  reads: Reads,
  projectId: string,
  packages: readonly number[] | undefined,
  { limit, offset }: { limit: number; offset: number },
) =>
  buildsWithCommits(reads, projectId)
    .$if(packages !== undefined, (query) =>
      query.where(({ exists }) =>
        // `offset 0` keeps the planner to probing for packages as it goes along the index.
        exists(
          commitsChanging(reads, projectId, packages ?? [])
            .where('g.seq', '=', sql<number>`c.seq`)
            .offset(sql.lit(0)),
        ),
      ),
    )
    .orderBy('b.commitDate', 'desc')
    .orderBy('b.commitSha')
    .limit(limit)
    .offset(offset)
    .select((eb) => [
      'b.commitSha as commitId',
      eb.fn.coalesce('b.commitMessage', 'c.subject').as('commitMessage'),
      eb.fn.coalesce('c.authorName', 'b.commitAuthor').as('commitAuthor'),
      'b.commitDate',
      'b.ciInfo',
      'b.workflowStatus as contexts',
      'b.state',
      'b.branch',
      'b.firstSeenAt',
      'b.lastUpdatedAt',
      // Null while the commit is not imported.
      'c.seq',
    ])
    .execute();

/** How many builds `buildsPage` goes through. */
export async function countBuilds(
  reads: Reads,
  projectId: string,
  packages: readonly number[] | undefined,
): Promise<number> {
  const { db, tenantId } = reads;
  const counted = packages
    ? buildsWithCommits(reads, projectId).where('c.seq', 'in', commitsChanging(reads, projectId, packages))
    : db.selectFrom('build_status as b').where('b.tenantId', '=', tenantId).where('b.projectId', '=', projectId);
  const { total } = await counted.select(sql<number>`count(*)::int`.as('total')).executeTakeFirstOrThrow();
  return total;
}

/** How many successful builds a base is looked for among: those of the newest commits. */
const BUILT_MAX = 1_000;

/** Numbers of those commits that were built with success. */
export async function builtCommits(reads: Reads, projectId: string): Promise<Set<number>> {
  const rows = await buildsWithCommits(reads, projectId)
    .where('c.seq', 'is not', null)
    .where('b.state', '=', 'succeeded')
    .orderBy('b.commitDate', 'desc')
    .limit(BUILT_MAX)
    .select('c.seq')
    .$narrowType<{ seq: number }>()
    .execute();
  return new Set(rows.map(({ seq }) => seq));
}

const RUNS_MAX = 100;

/** Runs that build, or built, a commit as a whole, newest first. */
export const buildRuns = ({ db, tenantId }: Reads, projectId: string, sha: string) =>
  db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('taskType', '=', sql.lit('build'))
    .where(sql<string>`payload ->> 'commitId'`, '=', sha)
    .where('domain', 'is', null)
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(RUNS_MAX)
    .select(['id as executionId', 'status'])
    .execute();

export type BuildRun = Awaited<ReturnType<typeof buildRuns>>[number];
