import { sql } from 'kysely';
import { secondsAgo } from '../data/conditions.ts';
import type { Database } from '../data/tables.ts';

/** The wait after the first failure of a row; it doubles with each further one. */
const FIRST_BACKOFF_SECONDS = 10;
const MAX_BACKOFF_SECONDS = 3_600;
/** A row that was due for another attempt so long ago, and not tried, is not listed by its sweep any more. */
const FORGOTTEN_AFTER_SECONDS = 7 * 86_400;

/** Keys of the rows that sweeps leave alone for now because they failed, by name of sweep. */
export async function backedOffKeys(
  system: Database,
  sweeps: readonly string[],
): Promise<(sweep: string) => ReadonlySet<string>> {
  const rows = await system
    .selectFrom('sweep_failure')
    .select(['sweep', 'rowKey'])
    .where('sweep', '=', sql<string>`any (${sweeps}::text[])`)
    .where('nextAttemptAt', '>', sql<string>`now()`)
    .execute();
  const bySweep = Map.groupBy(rows, ({ sweep }) => sweep);
  return (sweep) => new Set(bySweep.get(sweep)?.map(({ rowKey }) => rowKey));
}

/** Notes that a row failed once more, and backs off from it; answers how often it has failed. */
export async function noteSweepFailure(
  system: Database,
  sweep: string,
  rowKey: string,
  lastError: string,
): Promise<number> {
  const { attempts } = await system
    .insertInto('sweep_failure')
    .values({ sweep, rowKey, attempts: 1, lastError, nextAttemptAt: secondsAgo(-FIRST_BACKOFF_SECONDS) })
    .onConflict((conflict) =>
      conflict.columns(['sweep', 'rowKey']).doUpdateSet({
        attempts: sql<number>`sweep_failure.attempts + 1`,
        lastError,
        nextAttemptAt: sql<string>`now() + make_interval(secs =>
          least(${MAX_BACKOFF_SECONDS}, ${FIRST_BACKOFF_SECONDS} * 2.0 ^ least(sweep_failure.attempts, 30)))`,
      }),
    )
    .returning('attempts')
    .executeTakeFirstOrThrow();
  return attempts;
}

/** Forgets the failures of rows that were dealt with. */
export async function forgetSweepFailures(system: Database, sweep: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await system
    .deleteFrom('sweep_failure')
    .where('sweep', '=', sweep)
    .where('rowKey', '=', sql<string>`any (${keys}::text[])`)
    .execute();
}

/** Removes failures of rows that no sweep lists any more; answers how many. */
export async function purgeSweepFailures(system: Database): Promise<number> {
  const { numDeletedRows } = await system
    .deleteFrom('sweep_failure')
    .where('nextAttemptAt', '<', secondsAgo(FORGOTTEN_AFTER_SECONDS))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
