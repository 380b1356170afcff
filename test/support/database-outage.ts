import pg from 'pg';
import type { Actor } from '../../domain/kernel/shared/actor.ts';
import type { UnitOfWork } from '../../domain/unit-of-work.ts';
import type { TestApp } from './app.ts';

/** The app's database takes no connections from now on; gives what lets it take them again. */
export async function databaseAway({ databaseUrl }: Pick<TestApp, 'databaseUrl'>): Promise<() => Promise<void>> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const root = new pg.Client(databaseUrl.replace(/\/[^/]+$/, '/postgres'));
  await root.connect();
  await root.query(`alter database ${name} allow_connections false`);
  await root.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  return async () => {
    await root.query(`alter database ${name} allow_connections true`);
    await root.end();
  };
}

type ActingAs = (actor: Actor) => UnitOfWork;

/** The same units of work, which count how many of them failed: an outage is over for a test when it was noticed. */
export function countedFailures(actingAs: ActingAs): { actingAs: ActingAs; failures: number } {
  const counted = {
    failures: 0,
    actingAs:
      (actor: Actor): UnitOfWork =>
      (...given) =>
        actingAs(actor)(...given).catch((error: unknown) => {
          counted.failures++;
          throw error;
        }),
  };
  return counted;
}
