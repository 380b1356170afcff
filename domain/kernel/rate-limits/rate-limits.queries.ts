import { sql } from 'kysely';
import { batch } from '../data/batches.ts';
import type { Database } from '../data/tables.ts';

export interface Demand {
  key: string;
  /** How many requests to take; as many are given as are left. */
  wanted: number;
}

export interface Grant {
  key: string;
  granted: number;
  /** Over all processes, in this window. */
  taken: number;
  /** Until the window ends. */
  msLeft: number;
}

/** Takes requests out of the windows of some keys; a window that has ended begins anew. */
export async function takeGrants(
  db: Database,
  demands: readonly Demand[],
  { limit, windowSeconds }: { limit: number; windowSeconds: number },
): Promise<Grant[]> {
  const { rows } = await sql<Grant>`
    insert into rate_limit as r (key, taken, expires_at)
    select key, least(wanted, ${limit}::int), now() + make_interval(secs => ${windowSeconds}::int)
    from ${batch('asked', demands, { key: 'text', wanted: 'int' })}
    -- In one order, so that processes do not wait for each other in a circle.
    order by key
    on conflict (key) do update set
      taken = case when r.expires_at <= now() then excluded.taken
        else least(r.taken + excluded.taken, ${limit}::int) end,
      expires_at = case when r.expires_at <= now() then excluded.expires_at else r.expires_at end
    returning new.key as key, new.taken as taken,
      new.taken - case when old.expires_at > now() then old.taken else 0 end as granted,
      (extract(epoch from new.expires_at - now()) * 1000)::int as "msLeft"`.execute(db);
  return rows;
}
