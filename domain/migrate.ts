import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Migration, Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { connectionOptions } from './kernel/data/pool.ts';

const MIGRATIONS = new URL('../migrations/', import.meta.url);
/** Any number, but the same in every process that migrates. */
const MIGRATION_LOCK = 7_205_001;

interface Fences {
  openFences: string;
  closeFences: string;
  openService: (login: string) => string;
  openBrowserHosts: (login: string) => string;
}

interface Functions {
  recreateFunctions: (execute: (sql: string) => Promise<unknown>) => Promise<string[]>;
}

export interface Migrated {
  migrations: string[];
  /** SQL functions that were made, or made again because their files have changed. */
  functions: string[];
}

export interface MigrateOptions {
  /** A login of API and workers, which gets the roles that they act as. */
  serviceLogin?: string | undefined;
  /** A login of browser hosts, which gets the role that they act as. */
  browserHostLogin?: string | undefined;
}

/**
 * Brings the schema up to date, all in one transaction, and answers what that took. Processes that start at the same
 * time wait for each other.
 * @param databaseUrl of the role that owns the schema and may create roles.
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<Migrated> {
  const { serviceLogin, browserHostLogin } = options;
  const fences = (await import(new URL('fences.ts', MIGRATIONS).href)) as Fences;
  const { recreateFunctions } = (await import(new URL('functions.ts', MIGRATIONS).href)) as Functions;
  const { connectionString, max: _, ...driverOptions } = connectionOptions({ databaseUrl });
  const migrations = await migrationsList();
  const orm = new MikroORM({
    clientUrl: connectionString,
    driverOptions,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    logger: () => undefined,
    extensions: [Migrator],
    migrations: { migrationsList: migrations, snapshot: false, tableName: 'schema_migration' },
  });
  try {
    return await orm.em.fork().transactional(async (em) => {
      await em.execute('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
      await em.execute(fences.openFences);
      await assertUpgradable(orm.migrator, migrations[0]?.name);
      const applied = await orm.migrator.up({ transaction: em.getTransactionContext() });
      const functions = await recreateFunctions((sql) => em.execute(sql));
      await em.execute(fences.closeFences);
      if (serviceLogin !== undefined) await em.execute(fences.openService(serviceLogin));
      if (browserHostLogin !== undefined) await em.execute(fences.openBrowserHosts(browserHostLogin));
      return { migrations: applied.map(({ name }) => name), functions };
    });
  } finally {
    await orm.close(true);
  }
}

/** Migrations of before 1.0.0 are gone, so that nothing could follow them. @param first of all. */
async function assertUpgradable(migrator: MikroORM['migrator'], first: string | undefined): Promise<void> {
  const executed = await migrator.getExecuted();
  if (executed.length === 0 || executed.some(({ name }) => name === first)) return;
  throw new Error('the database is of a version before 1.0.0, from which there is no upgrade; begin with an empty one');
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
