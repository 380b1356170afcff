import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Keys } from '../../domain/kernel/encryption/keys.ts';
import type { FirstTenants } from '../support/first-tenants.ts';

/** What 1.0.0 left: `record.test.ts` says how it was made. */
export const RELEASE_FOLDER = join(import.meta.dirname, '1.0.0');
export const read = (file: string): string => readFileSync(join(RELEASE_FOLDER, file), 'utf8');

/**
 * What pg_dump says of the schema of 1.0.0, without owners, comments and settings of its session, and what is in
 * `schema_migration`.
 */
export const SCHEMA = read('schema.sql');
export const BASELINE = [...SCHEMA.matchAll(/'(Migration\d+_\w+)'/g)].map(([, name = '']) => name);

/** Who signs in to what was restored, and what its secrets are encrypted with. */
export interface Access {
  tenants: FirstTenants;
  keys: Keys;
}
export const access = (): Access => JSON.parse(read('access.json')) as Access;

export const histories = (): string[] =>
  readdirSync(join(RELEASE_FOLDER, 'histories')).map((file) => file.replace(/\.json$/, ''));

export type Row = Record<string, unknown>;
/** Rows by table, as PostgreSQL makes JSON of them. */
export type Rows = Record<string, Row[]>;
export const rowsOfRelease = (): Rows => JSON.parse(read('rows.json')) as Rows;

export async function withClient<Answer>(url: string, use: (client: pg.Client) => Promise<Answer>): Promise<Answer> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
const columnsOf = ([row]: readonly Row[]): string[] => Object.keys(row ?? {});

/** The schema and the rows of 1.0.0 in an empty database. */
export async function restoreRelease(url: string): Promise<void> {
  await withClient(url, (client) => client.query(`set check_function_bodies = off; ${SCHEMA}`));
  await writeRows(url, rowsOfRelease());
}

/**
 * Writes rows by the columns that 1.0.0 wrote, in any order of tables: foreign keys and triggers have had their say when
 * the rows were first written. Rejects when a column is gone, or a new one takes no null and has no default.
 */
export async function writeRows(url: string, rows: Rows): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`set session_replication_role = replica`);
    const generated = await generatedColumns(client);
    for (const [table, ofTable] of Object.entries(rows)) {
      const columns = quoted(columnsOf(ofTable).filter((column) => !generated.has(`${table}.${column}`)));
      await client.query(
        `insert into "${table}" (${columns}) overriding system value
         select ${columns} from json_populate_recordset(null::"${table}", $1)`,
        [JSON.stringify(ofTable)],
      );
    }
    await client.query(`select setval(format('%I.%I', n.nspname, s.relname), 1000000)
      from pg_class s join pg_namespace n on n.oid = s.relnamespace
      join pg_depend d on d.objid = s.oid and d.deptype = 'i' where s.relkind = 'S'`);
  });
}

async function generatedColumns(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select attrelid::regclass || '.' || attname as name from pg_attribute
     where attgenerated <> '' and attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** The rows of those tables, by those columns that the given rows have; rejects when one is gone. */
export async function readRows(url: string, like: Rows): Promise<Rows> {
  return withClient(url, async (client) => {
    const found: Rows = {};
    for (const [table, ofTable] of Object.entries(like)) {
      const { rows } = await client.query<{ row: Row }>(
        `select row_to_json(r) as row from (select ${quoted(columnsOf(ofTable))} from "${table}") r`,
      );
      found[table] = inOrder(rows.map(({ row }) => row));
    }
    return found;
  });
}

/** In an order that does not follow from where the server keeps them. */
export const inOrder = (rows: readonly Row[]): Row[] =>
  rows
    .map((row) => ({ row, text: JSON.stringify(row) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ row }) => row);
