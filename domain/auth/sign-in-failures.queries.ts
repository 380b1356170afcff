import { sql } from 'kysely';
import type { Database } from '../data/tables.ts';

const nowMs = sql<string>`(extract(epoch from now()) * 1000)::bigint`;

/** The failures counted under a key within its window; undefined when there are none. */
export const findFailures = (db: Database, key: string) =>
  db
    .selectFrom('sign_in_failure')
    .where('key', '=', key)
    .where('expire', '>', nowMs)
    .select(['points', sql<number>`ceil((expire - ${nowMs}) / 1000.0)::int`.as('secondsLeft')])
    .executeTakeFirst();

/** Counts a failure. The window begins with the first one; after its end, counting starts anew. */
export async function addFailure(db: Database, key: string, windowSeconds: number): Promise<void> {
  const expire = sql<string>`${nowMs} + ${windowSeconds * 1_000}::int`;
  const isOver = sql<boolean>`sign_in_failure.expire <= ${nowMs}`;
  await db
    .insertInto('sign_in_failure')
    .values({ key, points: 1, expire })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        points: sql`case when ${isOver} then 1 else sign_in_failure.points + 1 end`,
        expire: sql`case when ${isOver} then excluded.expire else sign_in_failure.expire end`,
      }),
    )
    .execute();
}

export async function removeFailures(db: Database, key: string): Promise<void> {
  await db.deleteFrom('sign_in_failure').where('key', '=', key).execute();
}
