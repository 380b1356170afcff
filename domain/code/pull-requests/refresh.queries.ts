import { type Expression, sql } from 'kysely';
import type { Database } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../unit-of-work.ts';

export type Writes = Pick<Tx, 'db' | 'tenantId'>;

const inSeconds = (seconds: number | Expression<number>) =>
  sql<string>`clock_timestamp() + make_interval(secs => ${seconds})`;

/** How soon after a hook the changes of a new commit are looked at: the mirror fetches it meanwhile. */
const DETAILS_AFTER_SECONDS = 30;
/** What a hook tells of is checked with the host's list within this time. */
const CHECK_AFTER_HOOK_SECONDS = 900;

/** Notes that a hook told of a pull request of a project: it is read more often from now on. */
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
          nextRefreshAt: sql<string>`least(pull_request_refresh.next_refresh_at, ${inSeconds(CHECK_AFTER_HOOK_SECONDS)})`,
        }))
        // When hooks come in quick succession, one update will do.
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
    .select(['refreshedAt', 'allOpenAt', 'readUntil', 'etag', 'failures', 'error'])
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
      ...(state.isListDue && { nextRefreshAt: inSeconds(CHECK_AFTER_HOOK_SECONDS) }),
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
