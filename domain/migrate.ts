import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Migration, Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { connectionOptions } from './data/pool.ts';

const MIGRATIONS = new URL('../migrations/', import.meta.url);
/** Any number, but the same in every process that migrates. */
const MIGRATION_LOCK = 7_205_001;

/**
 * Brings the schema up to date and answers the names of the migrations that ran. Processes that start at the same
 * time wait for each other.
 * @param databaseUrl of the role that owns the schema and may create roles.
 * @param to the last migration to run; absent: all.
 */
export async function migrate(databaseUrl: string, to?: string): Promise<string[]> {
  const { connectionString, max: _, ...driverOptions } = connectionOptions({ databaseUrl });
  const orm = new MikroORM({
    clientUrl: connectionString,
    driverOptions,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    logger: () => undefined,
    extensions: [Migrator],
    migrations: { migrationsList: await migrationsList(), snapshot: false, tableName: 'schema_migration' },
  });
  const lock = orm.em.fork();
  try {
    await lock.begin();
    await lock.execute('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
    const applied = await orm.migrator.up(to === undefined ? {} : { to });
    await lock.commit();
    return applied.map(({ name }) => name);
  } finally {
    await orm.close(true);
  }
}

async function migrationsList() {
  const files = (await readdir(fileURLToPath(MIGRATIONS)))
    .filter((name) => /^Migration\d+_\w+\.ts$/.test(name))
    .toSorted();
  return Promise.all(
    files.map(async (file) => {
      const module = (await import(new URL(file, MIGRATIONS).href)) as Record<string, new () => Migration>;
      return { name: file.replace(/\.ts$/, ''), class: migrationOf(file, module) as never };
    }),
  );
}

/** The one thing that a migration's file exports: with a second, which of them is the migration would be a guess. */
export function migrationOf<Exported>(file: string, module: Record<string, Exported>): Exported {
  const [migration, ...others] = Object.values(module);
  if (migration === undefined) throw new Error(`${file} exports no migration`);
  if (others.length > 0)
    throw new Error(`${file} exports ${Object.keys(module).join(', ')}: a migration's file exports its class alone`);
  return migration;
}
