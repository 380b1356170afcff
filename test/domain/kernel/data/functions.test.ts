import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../../../domain/migrate.ts';
import { type TestDatabase, testDatabase } from '../../../support/postgres.ts';
import { schemaCatalog } from '../../../support/schema-catalog.ts';

const FILES = globSync('*/*.sql', { cwd: join(import.meta.dirname, '../../../../migrations/functions') });

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await testDatabase();
  client = new pg.Client(database.url);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

test('every function of the schema has a file of its own, which keeps it up to date', async () => {
  const { rows } = await client.query<{ name: string; digest: string }>(
    `select proname as name, obj_description(oid, 'pg_proc') as digest from pg_proc
     where pronamespace = 'public'::regnamespace`,
  );
  expect(rows.map(({ name }) => name).toSorted()).toEqual(FILES.map((file) => basename(file, '.sql')).toSorted());
  for (const { digest } of rows) expect(digest).toMatch(/^[0-9a-f]{64}$/);
});

test('a function that another version made is made again from its file, with its triggers, rights and owner', async () => {
  const before = await schemaCatalog(client);
  await client.query(
    `create or replace function tenant_slug(tenant uuid) returns text language sql as 'select null::text';
     comment on function tenant_slug(uuid) is 'another version';
     drop function count_release_candidates() cascade;
     drop function waiting_metric_windows()`,
  );
  expect(await schemaCatalog(client)).not.toEqual(before);

  const { migrations, functions } = await migrate(database.url);
  expect(migrations).toEqual([]);
  expect(functions.toSorted()).toEqual(['count_release_candidates', 'tenant_slug', 'waiting_metric_windows']);
  expect(await schemaCatalog(client)).toEqual(before);
  expect(await migrate(database.url)).toEqual({ migrations: [], functions: [] });
});

test('a function whose body names what the schema lacks is refused, and nothing is changed', async () => {
  const before = await schemaCatalog(client);
  await client.query(
    `comment on function open_invitation(text) is 'another version';
     alter table invited_user rename to missing`,
  );
  await expect(migrate(database.url)).rejects.toThrow('relation "invited_user" does not exist');
  await client.query('alter table missing rename to invited_user');
  await migrate(database.url);
  expect(await schemaCatalog(client)).toEqual(before);
});
