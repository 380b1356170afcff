import { type Expression, sql } from 'kysely';
import { batch } from '../data/batches.ts';
import type { Database } from '../data/tables.ts';
import type { TenantKey } from '../shared/actor.ts';
import { tenantSlugOf } from '../tenants/tenants.queries.ts';
import type { Tx } from '../unit-of-work.ts';
import type { ChangedFiles } from './changed-files-rules.ts';

type Writes = Pick<Tx, 'db' | 'tenantId'>;

const inSeconds = (seconds: number | Expression<number>) =>
  sql<string>`clock_timestamp() + make_interval(secs => ${seconds})`;

/** How soon after a hook the changes of a new commit are looked at: the mirror fetches it meanwhile. */
const DETAILS_AFTER_SECONDS = 30;
/** What a hook tells of is checked with the host's list within this time. */
const LIVELY_SECONDS = 900;

/** Notes that a hook told of a pull request of a project: it is lively from now on. */
export async function noteHook({ db, tenantId }: Writes, projectId: string): Promise<void> {
  await db
    .insertInto('pull_request_refresh')
    .values({ tenantId, projectId, hookAt: sql`now()`, detailsDueAt: inSeconds(DETAILS_AFTER_SECONDS) })
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'projectId'])
        .doUpdateSet((eb) => ({
          hookAt: sql<string>`now()`,
          detailsDueAt: eb.fn.coalesce('pull_request_refresh.detailsDueAt', 'excluded.detailsDueAt'),
          nextRefreshAt: sql<string>`least(pull_request_refresh.next_refresh_at, ${inSeconds(LIVELY_SECONDS)})`,
        }))
        // Of hooks in quick succession one will do.
        .where((eb) =>
          eb.or([
            eb('pull_request_refresh.hookAt', 'is', null),
            eb('pull_request_refresh.hookAt', '<', sql<string>`now() - interval '1 second'`),
            eb('pull_request_refresh.detailsDueAt', 'is', null),
          ]),
        ),
    )
    .execute();
}

/** Has projects asked about soon: a credential for their host is new. @param projectId null: all of the tenant. */
export async function refreshSoon({ db, tenantId }: Writes, projectId: string | null): Promise<void> {
  await db
    .updateTable('pull_request_refresh')
    .where('tenantId', '=', tenantId)
    .$if(projectId !== null, (query) => query.where('projectId', '=', projectId ?? ''))
    .set({ nextRefreshAt: sql<string>`now()`, failures: 0 })
    .execute();
}

export interface DueRefresh extends TenantKey {
  projectId: string;
  repositoryIdentifier: string;
}

/** Projects whose pull requests are to be read from their host, or to be looked at; across tenants. */
export const dueRefreshes = (system: Database, limit: number): Promise<DueRefresh[]> =>
  system
    .selectFrom('project as p')
    .leftJoin('pull_request_refresh as r', (join) =>
      join.onRef('r.tenantId', '=', 'p.tenantId').onRef('r.projectId', '=', 'p.id'),
    )
    .where((eb) =>
      eb.or([
        eb('r.projectId', 'is', null),
        eb(sql<string>`least(r.next_refresh_at, r.details_due_at)`, '<=', sql<string>`now()`),
      ]),
    )
    .orderBy(sql`least(r.next_refresh_at, r.details_due_at) nulls first`)
    .limit(limit)
    .select(['p.tenantId', tenantSlugOf('p.tenantId'), 'p.id as projectId', 'p.identifier as repositoryIdentifier'])
    .execute();

/**
 * Records that a refresh begins, which is due again in a while should it be lost; answers the state before. Undefined
 * when the project is gone.
 */
export async function beginRefresh({ db, tenantId }: Writes, projectId: string) {
  const project = await db
    .selectFrom('project')
    .where('tenantId', '=', tenantId)
    .where('id', '=', projectId)
    .select(['id', 'identifier', 'platform', 'defaultBranch'])
    .executeTakeFirst();
  if (!project) return undefined;
  await db
    .insertInto('pull_request_refresh')
    .values({ tenantId, projectId })
    .onConflict((conflict) => conflict.columns(['tenantId', 'projectId']).doNothing())
    .execute();
  const state = await db
    .selectFrom('pull_request_refresh')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .forUpdate()
    .select(['refreshedAt', 'allOpenAt', 'readUntil', 'etag', 'failures'])
    .select([
      sql<boolean>`next_refresh_at <= clock_timestamp()`.as('isListDue'),
      sql<boolean>`coalesce(details_due_at <= clock_timestamp(), false)`.as('areDetailsDue'),
    ])
    .executeTakeFirstOrThrow();
  await db
    .updateTable('pull_request_refresh')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .set({
      attemptedAt: sql<string>`clock_timestamp()`,
      detailsDueAt: null,
      ...(state.isListDue && { nextRefreshAt: inSeconds(LIVELY_SECONDS) }),
    })
    .execute();
  return { project, ...state };
}

const updateRefresh = ({ db, tenantId }: Writes, projectId: string) =>
  db.updateTable('pull_request_refresh').where('tenantId', '=', tenantId).where('projectId', '=', projectId);

/** Records that the host's list could not be read. */
export async function noteFailedRefresh(
  tx: Writes,
  projectId: string,
  { error, afterMs }: { error: string; afterMs: number },
): Promise<void> {
  await updateRefresh(tx, projectId)
    .set((eb) => ({ error, failures: eb('failures', '+', 1), nextRefreshAt: inSeconds(afterMs / 1_000) }))
    .execute();
}

/** Records that the host's list was read. */
export async function noteRefreshed(
  tx: Writes,
  projectId: string,
  read: { refreshedAt: Date; allOpenAt: Date | null; readUntil: string | null; etag: string | null },
): Promise<void> {
  await updateRefresh(tx, projectId)
    .set((eb) => ({
      refreshedAt: read.refreshedAt,
      etag: read.etag,
      allOpenAt: read.allOpenAt ?? eb.ref('allOpenAt'),
      readUntil: read.readUntil ?? eb.ref('readUntil'),
      error: null,
      failures: 0,
    }))
    .execute();
}

/** Sets when the host is asked again, and the rest of what could not be looked at this time. */
export async function planNextRefresh(
  tx: Writes,
  projectId: string,
  { afterMs, isMoreDue }: { afterMs: number | undefined; isMoreDue: boolean },
): Promise<void> {
  await updateRefresh(tx, projectId)
    .set((eb) => ({
      ...(afterMs !== undefined && { nextRefreshAt: inSeconds(afterMs / 1_000) }),
      ...(isMoreDue && { detailsDueAt: eb.fn.coalesce('detailsDueAt', inSeconds(DETAILS_AFTER_SECONDS)) }),
    }))
    .execute();
}

/** When a pull request of a project last changed at its host; undefined without any. */
export async function lastChange({ db, tenantId }: Writes, projectId: string): Promise<Date | undefined> {
  const { changedAt } = await db
    .selectFrom('pull_request')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .select((eb) => eb.fn.max('changedAt').as('changedAt'))
    .executeTakeFirstOrThrow();
  return changedAt ? new Date(changedAt) : undefined;
}

/** Removes those that count as open here and are open at the host no more: it has deleted them. */
export async function removeVanished(
  { db, tenantId }: Writes,
  projectId: string,
  { open, readSince }: { open: readonly number[]; readSince: Date },
): Promise<void> {
  await db
    .deleteFrom('pull_request')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('state', '=', 'open')
    .where(sql<boolean>`number <> all (${open}::int[])`)
    // Not those of which a hook told meanwhile.
    .where('updatedAt', '<', readSince.toISOString())
    .execute();
}

/** Open pull requests whose reviews are to be read, newest change first. */
export const unreadReviews = (
  { db, tenantId }: Writes,
  projectId: string,
  { ofRequested, limit }: { ofRequested: boolean; limit: number },
) =>
  db
    .selectFrom('pull_request')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('state', '=', 'open')
    .where('isDraft', '=', false)
    .where((eb) => eb.or([eb('reviewsReadAt', 'is', null), eb('reviewsReadAt', '<', eb.ref('changedAt'))]))
    .where(sql<boolean>`(requested -> 'users' <> '[]' or requested -> 'teams' <> '[]') = ${ofRequested}`)
    .orderBy('changedAt', 'desc')
    .limit(limit)
    .select(['number', 'changedAt'])
    .execute();

export async function noteReviewsRead(
  { db, tenantId }: Writes,
  projectId: string,
  read: { number: number; changedAt: string },
): Promise<void> {
  await db
    .updateTable('pull_request')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('number', '=', read.number)
    .set({ reviewsReadAt: read.changedAt })
    .execute();
}

/**
 * Pull requests whose changes are not known, or were between other commits: newest change first, and behind all others
 * those that could not be compared before.
 */
export const uncompared = (
  { db, tenantId }: Writes,
  projectId: string,
  { endedSince, limit }: { endedSince: Date; limit: number },
) =>
  db
    .selectFrom('pull_request as p')
    .leftJoin('git_ref as r', (join) =>
      join
        .onRef('r.tenantId', '=', 'p.tenantId')
        .onRef('r.projectId', '=', 'p.projectId')
        .on('r.kind', '=', 'branch')
        .onRef('r.name', '=', 'p.baseBranch'),
    )
    .where('p.tenantId', '=', tenantId)
    .where('p.projectId', '=', projectId)
    .where('p.headSha', 'is not', null)
    .where((eb) =>
      eb.or([
        eb.and([
          eb('p.state', '=', 'open'),
          eb.or([
            eb('p.comparedHead', 'is distinct from', eb.ref('p.headSha')),
            eb('p.comparedBase', 'is distinct from', eb.fn.coalesce('r.sha', 'p.baseSha')),
          ]),
        ]),
        eb.and([
          eb('p.state', '<>', 'open'),
          eb('p.comparedHead', 'is distinct from', eb.ref('p.headSha')),
          eb('p.endedAt', '>', endedSince.toISOString()),
        ]),
      ]),
    )
    .orderBy(sql`p.details_error is not null`)
    .orderBy('p.changedAt', 'desc')
    .limit(limit)
    .select(['p.number', 'p.state', 'p.baseBranch', 'p.baseSha', 'r.sha as baseTip'])
    .select('p.headSha')
    .$narrowType<{ headSha: string }>()
    .execute();

/** What a pull request changes, or why that is not known. */
export interface Comparison {
  number: number;
  comparedHead: string;
  comparedBase: string | null;
  files: ChangedFiles | null;
  packages: string[] | null;
  commitsAhead: number | null;
  commitsBehind: number | null;
  detailsError: string | null;
}

/** Records comparisons, each unless the pull request has another commit by now. */
export async function saveComparisons(
  { db, tenantId }: Writes,
  projectId: string,
  comparisons: readonly Comparison[],
): Promise<void> {
  const types = {
    number: 'int',
    comparedHead: 'text',
    comparedBase: 'text',
    files: 'jsonb',
    packages: 'text[]',
    commitsAhead: 'int',
    commitsBehind: 'int',
    detailsError: 'text',
  } as const;
  await db
    .updateTable('pull_request as p')
    .from(batch('c', comparisons, types))
    .where('p.tenantId', '=', tenantId)
    .where('p.projectId', '=', projectId)
    .whereRef('p.number', '=', 'c.number')
    .whereRef('p.headSha', '=', 'c.comparedHead')
    .set((eb) => ({
      comparedHead: eb.ref('c.comparedHead'),
      comparedBase: eb.ref('c.comparedBase'),
      files: sql`c.files`,
      packages: eb.ref('c.packages'),
      commitsAhead: eb.ref('c.commitsAhead'),
      commitsBehind: eb.ref('c.commitsBehind'),
      detailsError: eb.ref('c.detailsError'),
    }))
    .execute();
}
