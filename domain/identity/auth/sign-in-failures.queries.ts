import { sql } from 'kysely';
import type { Database } from '../../kernel/data/tables.ts';

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

interface Delays {
  /** Failures before the first delay. */
  free: number;
  /** The first delay; each later one is twice as long. */
  firstMs: number;
  mostMs: number;
  /** Failures are forgotten when there was none for so long. */
  forgottenAfterMs: number;
}

/**
 * Counts an attempt as a failure before it is made, so that many at once cannot outrun the count; undefined when it was
 * counted, else the seconds until the next attempt may be made.
 */
export async function claimAttempt(
  db: Database,
  key: string,
  { free, firstMs, mostMs, forgottenAfterMs }: Delays,
): Promise<number | undefined> {
  const isOver = sql<boolean>`f.expire <= ${nowMs}`;
  // What is raised to a power is bounded first.
  const delayMs = sql<number>`case when f.points < ${free}::int then 0
    else least(${firstMs}::int * 2 ^ least(f.points - ${free}::int, 30), ${mostMs}::int) end`;
  const nextAt = sql<number>`f.expire - ${forgottenAfterMs}::int + ${delayMs}`;
  const { rows } = await sql<{ secondsLeft: number | null }>`
    with claimed as (
      insert into sign_in_failure as f (key, points, expire) values (${key}, 1, ${nowMs} + ${forgottenAfterMs}::int)
      on conflict (key) do update set points = case when ${isOver} then 1 else f.points + 1 end, expire = excluded.expire
      where ${isOver} or ${nextAt} <= ${nowMs}
      returning 1)
    select case when exists (select from claimed) then null else (
      select greatest(1, ceil((${nextAt} - ${nowMs}) / 1000.0))::int from sign_in_failure f where f.key = ${key}
    ) end as "secondsLeft"`.execute(db);
  return rows[0]?.secondsLeft ?? undefined;
}

/** Takes back an attempt that turned out to be no failure. */
export async function returnAttempt(db: Database, key: string): Promise<void> {
  await db
    .updateTable('sign_in_failure')
    .where('key', '=', key)
    .where('points', '>', 0)
    .set({ points: sql`points - 1` })
    .execute();
}

/** Whether somebody has signed in from there lately. */
export const isKnownSignIn = async (db: Database, key: string): Promise<boolean> =>
  (await db
    .selectFrom('known_sign_in')
    .where('key', '=', key)
    .where('expiresAt', '>', sql<string>`now()`)
    .select('key')
    .executeTakeFirst()) !== undefined;

/** Remembers a sign-in; written once a day at most. */
export async function rememberSignIn(db: Database, key: string, days: number): Promise<void> {
  await db
    .insertInto('known_sign_in')
    .values({ key, expiresAt: sql`now() + make_interval(days => ${days}::int)` })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet({ expiresAt: sql`excluded.expires_at` })
        .where(sql<boolean>`known_sign_in.expires_at < excluded.expires_at - interval '1 day'`),
    )
    .execute();
}

export async function removeFailures(db: Database, key: string): Promise<void> {
  await db.deleteFrom('sign_in_failure').where('key', '=', key).execute();
}
