import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../domain/migrate.ts';
import { emptyDatabase, type TestDatabase, testDatabase } from '../support/postgres.ts';
import { schemaCatalog } from '../support/schema-catalog.ts';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');

/**
 * What pg_dump says of the schema of 1.0.0, without owners, comments and settings of its session, and what is in
 * `schema_migration`.
 */
const DUMP = readFileSync(join(import.meta.dirname, 'schema-1.0.0.sql'), 'utf8');
const BASELINE = [...DUMP.matchAll(/'(Migration\d+_\w+)'/g)].map(([, name = '']) => name);

let upgraded: TestDatabase;
let fresh: TestDatabase;
beforeAll(async () => {
  upgraded = await emptyDatabase();
  fresh = await testDatabase();
});
afterAll(async () => {
  await upgraded.drop();
  await fresh.drop();
});

async function read<Answer>({ url }: TestDatabase, from: (client: pg.Client) => Promise<Answer>): Promise<Answer> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await from(client);
  } finally {
    await client.end();
  }
}

test('a schema of 1.0.0 is brought up to date by what came after, and is then as a new one is', async () => {
  await read(upgraded, (client) => client.query(`set check_function_bodies = off; ${DUMP}`));
  const { migrations } = await migrate(upgraded.url);

  const all = globSync('Migration*.ts', { cwd: MIGRATIONS }).map((file) => file.replace(/\.ts$/, ''));
  expect(migrations).toEqual(all.filter((name) => !BASELINE.includes(name)).toSorted());
  expect(await read(upgraded, schemaCatalog)).toEqual(await read(fresh, schemaCatalog));
});

test('no migration of 1.0.0 is changed: a change of the schema is a migration of its own', () => {
  const digests = BASELINE.map((name) => {
    const code = readFileSync(join(MIGRATIONS, `${name}.ts`), 'utf8').replaceAll(/\/\*\*.*?\*\//gs, '');
    return [name, createHash('sha256').update(code.replaceAll(/\s+/g, ' ')).digest('hex')];
  });
  const kept = readFileSync(join(import.meta.dirname, 'migrations-1.0.0.json'), 'utf8');
  expect(Object.fromEntries(digests)).toEqual(JSON.parse(kept));
});

test('a database of a version before 1.0.0 is refused, and stays as it is', async () => {
  const database = await emptyDatabase();
  try {
    await read(database, (client) =>
      client.query(
        `create table schema_migration (id serial primary key, name varchar(255), executed_at timestamptz default now());
         insert into schema_migration (name) values ('Migration20261121000100_tenants')`,
      ),
    );
    await expect(migrate(database.url)).rejects.toThrow('the database is of a version before 1.0.0');
    const tables = await read(database, (client) => client.query(`select from pg_tables where schemaname = 'public'`));
    expect(tables.rowCount).toBe(1);
  } finally {
    await database.drop();
  }
});
