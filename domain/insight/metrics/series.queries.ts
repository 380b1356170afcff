import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../unit-of-work.ts';
import { OWN_PREFIX, type Series } from './series-rules.ts';

/** The ones of some series that are known. */
export async function knownSeries({ db, tenantId }: Reads, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('metric_series')
    .where('tenantId', '=', tenantId)
    .where('series', '=', sql<string>`any (${ids}::uuid[])`)
    .select('series')
    .execute();
  return new Set(rows.map(({ series }) => series));
}

/** How many series of the tenant were new on a day; nobody else adds any until the transaction ends. */
export async function lockSeriesDay({ db, tenantId }: Tx, day: string) {
  return db
    .insertInto('metric_series_day')
    .values({ tenantId, day, created: 0 })
    .onConflict((conflict) =>
      conflict.columns(['tenantId', 'day']).doUpdateSet((eb) => ({ created: eb.ref('metric_series_day.created') })),
    )
    .returning(['created', 'limitedAt'])
    .executeTakeFirstOrThrow();
}

/** Adds series that were not known when the day was locked; another request may have added some before. Own ones do not count. */
export async function addSeries({ db, tenantId }: Tx, day: string, series: readonly Series[]): Promise<void> {
  await sql`
    with added as (
      insert into metric_series (tenant_id, series, name, type, labels, first_day)
      select ${tenantId}, id, name, type, labels::jsonb, ${day}
      from unnest(${series.map(({ id }) => id)}::uuid[], ${series.map(({ name }) => name)}::text[],
        ${series.map(({ type }) => type)}::text[], ${series.map(({ labels }) => JSON.stringify(labels))}::text[])
        as given (id, name, type, labels)
      on conflict do nothing returning name)
    update metric_series_day set created = created + (
      select count(*) from added where not starts_with(name, ${OWN_PREFIX}))
    where tenant_id = ${tenantId} and day = ${day}`.execute(db);
}

/** Records that series were refused on a day since the tenant has as many as it may. */
export const noteLimited = ({ db, tenantId, now }: Tx, day: string) =>
  db
    .updateTable('metric_series_day')
    .set({ limitedAt: now })
    .where('tenantId', '=', tenantId)
    .where('day', '=', day)
    .execute();
