import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Database } from '../../kernel/data/tables.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { CalendarState, MaintenanceEntry } from './maintenance-rules.ts';

/** The maintenance of an org; undefined: nobody has given any. */
export const maintenanceOf = ({ db, tenantId }: Reads, orgId: string) =>
  db
    .selectFrom('org_maintenance')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .select(['entries', 'calendarUrl', 'calendar', 'updatedAt'])
    .executeTakeFirst();

/**
 * The maintenance of the orgs that environments name, by username or sandbox name in lower case: where several sandboxes have
 * a name, that of all of them.
 */
export async function maintenanceByName(
  { db, tenantId }: Reads,
  names: readonly string[],
): Promise<ReadonlyMap<string, MaintenanceEntry[]>> {
  const wanted = [...new Set(names.map((name) => name.toLowerCase()))];
  if (wanted.length === 0) return new Map();
  const rows = await db
    .selectFrom('org_maintenance as m')
    .innerJoin('crm_org as o', (join) => join.onRef('o.tenantId', '=', 'm.tenantId').onRef('o.id', '=', 'm.orgId'))
    .innerJoin(sql<{ name: string }>`unnest(${wanted}::text[])`.as<'named'>(sql`named (name)`), (join) =>
      join.on((eb) =>
        eb.or([
          eb(sql<string>`lower(o.username)`, '=', eb.ref('named.name')),
          eb(sql<string>`lower(o.sandbox_name)`, '=', eb.ref('named.name')),
        ]),
      ),
    )
    .where('m.tenantId', '=', tenantId)
    .select(['named.name', 'm.entries', 'm.calendar'])
    .execute();
  const byName = Map.groupBy(rows, ({ name }) => name);
  return new Map(
    [...byName].map(([name, found]) => [
      name,
      found.flatMap(({ entries, calendar }) => [...entries, ...(calendar?.entries ?? [])]),
    ]),
  );
}

export interface GivenMaintenance {
  entries: readonly MaintenanceEntry[];
  /** Encrypted; null: there is no calendar, undefined: it stays as it is. */
  calendarUrl?: string | null | undefined;
}

/** Replaces what people gave. A calendar that is new is read next. */
export async function writeMaintenance(
  { db, tenantId }: Tx,
  orgId: string,
  { entries, calendarUrl }: GivenMaintenance,
): Promise<void> {
  const calendar = calendarUrl === undefined ? {} : { calendarUrl, calendar: null };
  const due = calendarUrl === undefined ? {} : { calendarDueAt: calendarUrl === null ? null : sql<string>`now()` };
  const given = { entries: json([...entries]), ...calendar, ...due };
  await db
    .insertInto('org_maintenance')
    .values({ tenantId, orgId, ...given })
    .onConflict((conflict) =>
      conflict.columns(['tenantId', 'orgId']).doUpdateSet({ ...given, updatedAt: sql<string>`now()` }),
    )
    .execute();
}

/** Calendars of all tenants that are to be read, the longest overdue first. */
export const dueCalendars = (system: Database, limit: number) =>
  system
    .selectFrom('org_maintenance as m')
    .where('calendarDueAt', '<=', sql<string>`now()`)
    .orderBy('calendarDueAt')
    .limit(limit)
    .select(['m.tenantId', tenantSlugOf('m.tenantId'), 'm.orgId'])
    .execute();

/** Notes what was read of a calendar, to be read again in an hour; false where it is another one meanwhile. */
export async function noteCalendar(
  { db, tenantId }: Tx,
  orgId: string,
  calendarUrl: string,
  state: CalendarState,
): Promise<boolean> {
  const noted = await db
    .updateTable('org_maintenance')
    .set({ calendar: json(state), calendarDueAt: sql<string>`now() + interval '1 hour'` })
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('calendarUrl', '=', calendarUrl)
    .returning('orgId')
    .executeTakeFirst();
  return noted !== undefined;
}
