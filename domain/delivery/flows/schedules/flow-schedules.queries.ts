import { sql } from 'kysely';
import { json } from '../../../kernel/data/columns.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { NewRow } from '../../../kernel/data/statement.ts';
import type { Database, ReadDatabase } from '../../../kernel/data/tables.ts';
import { newId } from '../../../kernel/shared/ids.ts';
import type { Tx } from '../../../unit-of-work.ts';

/** The most schedules of a tenant: lists of them are not paged. */
export const SCHEDULES_MAX = 500;

const schedules = (db: ReadDatabase, tenantId: string) =>
  db
    .selectFrom('flow_schedule as s')
    .leftJoin('project as p', (join) => join.onRef('p.tenantId', '=', 's.tenantId').onRef('p.id', '=', 's.projectId'))
    .where('s.tenantId', '=', tenantId)
    .where('s.deletedAt', 'is', null)
    .select([
      's.id',
      's.name',
      's.cron',
      's.timezone',
      's.payload',
      's.schedulePath',
      's.isPaused',
      's.updatedAt',
      'p.identifier as repositoryIdentifier',
      's.refusedAt',
      's.refusal',
      's.createdBy',
      's.createdAt',
    ]);

/** By name, at most `SCHEDULES_MAX`. */
export const listSchedules = ({ db, tenantId }: Reads) =>
  schedules(db, tenantId).orderBy('s.name').limit(sql.lit(SCHEDULES_MAX)).execute();
export type ScheduleRow = Awaited<ReturnType<typeof listSchedules>>[number];

/** Undefined when there is none, or no longer. */
export const findSchedule = ({ db, tenantId }: Reads, id: string): Promise<ScheduleRow | undefined> =>
  schedules(db, tenantId).where('s.id', '=', id).executeTakeFirst();

/** Nobody else changes the schedule before this transaction ends. */
export async function lockSchedule({ db, tenantId }: Tx, id: string): Promise<void> {
  await db
    .selectFrom('flow_schedule')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select('id')
    .forUpdate()
    .executeTakeFirst();
}

/** How many schedules the tenant has. */
export async function countSchedules({ db, tenantId }: Reads): Promise<number> {
  const { count } = await db
    .selectFrom('flow_schedule')
    .where('tenantId', '=', tenantId)
    .where('deletedAt', 'is', null)
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Ids of the people who made a schedule, and the only projects that they reached by it; null: all. */
export const makersOfSchedule = ({ db, tenantId }: Reads, id: string) =>
  db
    .selectFrom('flow_schedule')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select(['peopleIds', 'limitedTo'])
    .executeTakeFirstOrThrow();

export type NewSchedule = Pick<NewRow<'flow_schedule'>, 'name' | 'cron' | 'timezone' | 'schedulePath' | 'peopleIds'> & {
  projectId: string | null;
  payload: Record<string, unknown>;
};

/** Its id; undefined when the name is taken. */
export async function insertSchedule(tx: Tx, { payload, ...schedule }: NewSchedule): Promise<string | undefined> {
  const made = await tx.db
    .insertInto('flow_schedule')
    .values({
      ...schedule,
      id: newId(),
      tenantId: tx.tenantId,
      payload: json(payload),
      createdBy: tx.actor.email,
      limitedTo: tx.actor.projectIds ? [...tx.actor.projectIds] : null,
    })
    .onConflict((conflict) => conflict.columns(['tenantId', 'name']).where('deletedAt', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst();
  return made?.id;
}

/** Changes a schedule; the engine does not know of it yet. */
export async function updateSchedule(
  { db, tenantId }: Tx,
  id: string,
  change: Pick<ScheduleRow, 'cron' | 'timezone' | 'isPaused'>,
): Promise<void> {
  await db
    .updateTable('flow_schedule')
    .set({ ...change, syncedAt: null, updatedAt: sql`clock_timestamp()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Gives a schedule another payload. */
export async function replacePayload(
  { db, tenantId }: Tx,
  id: string,
  { payload, projectId }: Pick<NewSchedule, 'payload' | 'projectId'>,
): Promise<void> {
  await db
    .updateTable('flow_schedule')
    .set({ payload: json(payload), projectId })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/**
 * Has people answer for the runs of a schedule beside those who do. A token that is limited to projects limits the runs to
 * these, within what they were limited to.
 */
export async function addPeople({ db, tenantId, actor }: Tx, id: string, peopleIds: readonly string[]): Promise<void> {
  const limit = actor.projectIds && [...actor.projectIds];
  await db
    .updateTable('flow_schedule')
    .set({
      peopleIds: sql`array(select distinct unnest(people_ids || ${peopleIds}::text[]))`,
      ...(limit && {
        limitedTo: sql`case when limited_to is null then ${limit}::uuid[]
          else array(select unnest(limited_to) intersect select unnest(${limit}::uuid[])) end`,
      }),
    })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Records why a schedule that was due started no run; null: it did. */
export async function noteRefusal({ db, tenantId, now }: Tx, id: string, refusal: string | null): Promise<void> {
  await db
    .updateTable('flow_schedule')
    .set({ refusal, refusedAt: refusal === null ? null : now })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Marks a schedule as deleted, and answers when; the row stays until the engine has deleted it, too. */
export async function markDeleted({ db, tenantId }: Tx, id: string): Promise<string> {
  const { updatedAt } = await db
    .updateTable('flow_schedule')
    .set({ deletedAt: sql`now()`, syncedAt: null, updatedAt: sql`clock_timestamp()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .returning('updatedAt')
    .executeTakeFirstOrThrow();
  return updatedAt;
}

/** Records that the engine knows of a change, unless there was another meanwhile: the engine may know either then. */
export async function noteSynced(
  db: Database,
  { tenantId, scheduleId, updatedAt }: { tenantId: string; scheduleId: string; updatedAt: string },
): Promise<void> {
  await db
    .updateTable('flow_schedule')
    .set({ syncedAt: sql`case when updated_at = ${updatedAt}::timestamptz then now() end` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', scheduleId)
    .execute();
}
