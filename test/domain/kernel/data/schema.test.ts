import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { columnName } from '../../../../domain/kernel/data/dialect.ts';
import { entities } from '../../../../domain/tables.ts';
import { type TestDatabase, testDatabase } from '../../../support/postgres.ts';

/** What migrations alone say: keys between tables, checks, indexes; and what the ORM misreads. */
const ONLY_IN_MIGRATIONS = [
  /drop constraint/,
  /^drop index/,
  // A table of the migrator's own.
  /^drop table .*"schema_migration"/,
  // An identity column has a default that the comparison takes for one of ours.
  /^alter table "\w+" alter column "number" drop default$/,
];

/** The ORM wants a key of every entity; these tables have none. */
const TABLES_WITHOUT_KEY = new Set(['flow_run_tally']);

let database: TestDatabase;
let orm: MikroORM;
let root: pg.Client;

beforeAll(async () => {
  database = await testDatabase();
  root = new pg.Client(database.url);
  await root.connect();
  orm = new MikroORM({
    clientUrl: database.url,
    entities: [...entities],
    ensureDatabase: false,
    schemaGenerator: {
      ignorePolicies: true,
      ignoreRoutines: true,
      ignoreTriggers: true,
      createForeignKeyConstraints: false,
    },
  });
});
afterAll(async () => {
  await orm?.close(true);
  await root?.end();
  await database?.drop();
});

/** The statements that would make the database what the entities say. */
async function differences(): Promise<string[]> {
  const sql = await orm.schema.getUpdateSchemaSQL({ wrap: false });
  return sql
    .split(';\n')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '' && !ONLY_IN_MIGRATIONS.some((pattern) => pattern.test(statement)));
}

test('every table is an entity, with the columns, types and defaults that migrations give it', async () => {
  expect(await differences()).toEqual([]);
});

test('primary keys are as the entities say', async () => {
  // The ORM's comparison sees another key, but not that there is none.
  const { rows } = await root.query<{ table: string; columns: string[] }>(
    `select i.indrelid::regclass::text as table,
       array(select attname::text from unnest(i.indkey::int2[]) with ordinality as key (number, place)
         join pg_attribute a on a.attrelid = i.indrelid and a.attnum = key.number order by place) as columns
     from pg_index i where i.indisprimary`,
  );
  const keys = new Map(rows.map(({ table, columns }) => [table, columns]));
  const declared = [...orm.getMetadata().getAll().values()].filter(
    ({ tableName }) => !TABLES_WITHOUT_KEY.has(tableName),
  );
  expect(declared.map(({ tableName, primaryKeys }) => [tableName, primaryKeys.map(columnName)])).toEqual(
    declared.map(({ tableName }) => [tableName, keys.get(tableName)]),
  );
});

test('foreign keys lead to tables of the same area or of one below', async () => {
  const domain = join(import.meta.dirname, '../../../../domain');
  const lists = readFileSync(join(domain, 'tables.ts'), 'utf8').matchAll(/'\.\/(\w+\/tables\.ts)'/g);
  const floors = new Map<string, number>();
  for (const [floor, [, list = '']] of [...lists].entries()) {
    const area = (await import(join(domain, list))) as { entities: EntitySchema[] };
    for (const { meta } of area.entities) floors.set(meta.tableName, floor);
  }
  const { rows } = await root.query<{ from: string; to: string }>(
    `select distinct conrelid::regclass::text as from, confrelid::regclass::text as to from pg_constraint
     where contype = 'f' and connamespace = 'public'::regnamespace`,
  );
  const floorOf = (table: string) => floors.get(table) ?? Number.NaN;
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.filter(({ from, to }) => !(floorOf(to) <= floorOf(from)))).toEqual([]);
});

test('queries write a property as the column that the ORM gives it', () => {
  for (const { properties } of orm.getMetadata().getAll().values()) {
    const named = Object.values(properties as Record<string, { name: string; fieldNames: string[] }>);
    expect(named.map(({ name }) => [columnName(name)])).toEqual(named.map(({ fieldNames }) => fieldNames));
  }
});

test('a migration that an entity does not follow is found', async () => {
  await root.query(
    `alter table flow_run add column extra text;
     alter table webhook alter column timeout_ms type bigint;
     alter table approval alter column comment set not null;
     alter table release_candidate alter column status set default 'other';
     create table unknown (id int)`,
  );
  const found = (await differences()).join('\n');
  for (const expected of ['"extra"', '"timeout_ms"', '"comment"', '"status"', 'drop table if exists "unknown"']) {
    expect(found).toContain(expected);
  }
});
