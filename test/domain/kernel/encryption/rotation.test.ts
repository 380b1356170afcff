import { sql } from 'kysely';
import pg from 'pg';
import { connectDatabase, type DatabaseConnection } from '../../../../domain/kernel/data/database.ts';
import type { Database } from '../../../../domain/kernel/data/tables.ts';
import { ENCRYPTED_COLUMNS } from '../../../../domain/areas.ts';
import { rotateKeys } from '../../../../domain/kernel/encryption/rotation.ts';
import { integrationSecretContext } from '../../../../domain/projects/integrations/integrations.mutations.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { createEncryption } from '../../../../domain/kernel/encryption/encryption.ts';
import { generateKeys } from '../../../../domain/kernel/encryption/keys.ts';
import { guardedRoutes, makeExamples } from '../../../contract/examples.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { insertIntegrations } from '../../../support/factories.ts';
import { eventually } from '../../../support/eventually.ts';
import { engineAway } from '../../../support/launch.ts';

const named = (name: string) => generateKeys().encryptionKeys.replace(/^[^:]+/, name);
const [oldKey, newKey] = [named('old'), named('new')];
const before = createEncryption(oldKey);
const after = createEncryption(`${newKey},${oldKey}`);
const newOnly = createEncryption(newKey);

let app: TestApp;
let database: DatabaseConnection;
let db: Database;

beforeAll(async () => {
  app = await testApp({
    launch: engineAway,
    env: { ENCRYPTION_KEYS: oldKey, TOKEN_KEYS: generateKeys().tokenKeys },
    commands: ['analyze', 'build'],
  });
  database = connectDatabase({ databaseUrl: app.databaseUrl, poolSize: 4 }, () => undefined);
  db = database.db;
});
afterAll(async () => {
  await database.close();
  await app.close();
});

const columnOf = (table: string) => ENCRYPTED_COLUMNS.filter((column) => column.table === table);

/** Rows whose credentials are encrypted by the old key. */
async function addIntegrations(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, newId);
  await insertIntegrations(
    app,
    ids.map((id) => ({ id, credentials: before.encrypt(`secret of ${id}`, integrationSecretContext(id)) })),
  );
  return ids;
}

const credentials = async (id: string) => {
  const [row] = await app.sql<{ credentials: string }>('select credentials from integration where id = ?', [id]);
  return newOnly.decrypt(row?.credentials ?? '', integrationSecretContext(id));
};

test('the list names every column in which the service stores an encrypted value, and all of them open with the new key alone', async () => {
  const examples = makeExamples(app);
  for (const route of guardedRoutes) await examples.of(route);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/application-tokens', { name: 'kept-reply' }, { 'idempotency-key': 'once' });
  const { id } = await owner.post(201, '/api/webhooks', {
    event: 'push',
    name: 'x',
    config: { url: 'http://127.0.0.1:9/', headers: { 'x-key': 'y' } },
  });
  await owner.post(200, `/api/webhooks/${id}/rotate-secret`);
  await owner.post(201, '/api/projects', { identifier: 'hooked/twice', platform: 'host-a' });
  for (const _ of ['first', 'second']) await owner.post(201, '/api/projects/hooked%2Ftwice/hook-secret');
  await app.as(app.member).post(201, '/api/users/me/totp');
  const [org] = await owner.get(200, '/api/auth/crm/orgs?type=production&limit=1');
  await owner.put(200, `/api/auth/crm/org/maintenance?username=${org.username}`, {
    entries: [],
    icsUrl: 'https://calendar.acme.example/maintenance.ics',
  });

  const texts = await app.sql<{ table_name: string; column_name: string }>(
    `select c.table_name, c.column_name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type in ('text', 'json', 'jsonb')`,
  );
  const encrypted: string[] = [];
  for (const { table_name: table, column_name: column } of texts) {
    const found = await app.sql(`select 1 from ${table} where ${column}::text like 'v1.old.%' limit 1`);
    if (found.length > 0) encrypted.push(`${table}.${column}`);
  }
  expect(encrypted.toSorted()).toEqual(ENCRYPTED_COLUMNS.map(({ table, column }) => `${table}.${column}`).toSorted());

  const rotated = await rotateKeys(db, after, ENCRYPTED_COLUMNS, 2);
  for (const { table, column, key, context } of ENCRYPTED_COLUMNS) {
    expect(rotated).toContainEqual({ table, column, reencrypted: expect.any(Number), unreadable: 0 });
    const rows = await app.sql<Record<string, string>>(
      `select ${Object.keys(key).join(', ')}, ${column} as stored from ${table} where ${column} is not null`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { stored = '', ...row } of rows)
      expect(() => newOnly.decrypt(stored, context(row as Record<string, string>))).not.toThrow();
  }
  await expect(rotateKeys(db, after, ENCRYPTED_COLUMNS)).resolves.toEqual(
    rotated.map((column) => ({ ...column, reencrypted: 0 })),
  );
});

test('values that change meanwhile keep their change, and rows that are locked are retried', async () => {
  const ids = await addIntegrations(400);
  const [held = '', last = ''] = [ids[0], ids.at(-1)];
  const holder = new pg.Client(app.databaseUrl);
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from integration where id = $1 for update', [held]);
  const stop = new AbortController();
  const changed = new Map<string, string>();
  const change = async () => {
    for (let round = 0; !stop.signal.aborted; round++) {
      const id = ids[1 + ((round * 37) % 80)] ?? '';
      const secret = `changed ${round}`;
      // Half of the writers still have the old key first.
      const sealed = (round % 2 === 0 ? after : before).encrypt(secret, integrationSecretContext(id));
      await app.sql('update integration set credentials = ? where id = ?', [sealed, id]);
      changed.set(id, secret);
    }
  };
  const changing = change();
  // When the last row has the new key, the rotation has come past the one that is held.
  const releasing = eventually(
    () => app.sql<{ stored: string }>('select credentials as stored from integration where id = ?', [last]),
    ([row]) => row?.stored.startsWith('v1.new.') === true,
  ).then(() => holder.query('commit'));
  const [{ reencrypted, unreadable } = { reencrypted: 0, unreadable: 1 }] = await rotateKeys(
    db,
    after,
    columnOf('integration'),
    7,
  );
  stop.abort();
  await Promise.all([changing, releasing]);
  await holder.end();
  expect(unreadable).toBe(0);
  expect(reencrypted).toBeGreaterThan(300);
  await rotateKeys(db, after, columnOf('integration'));
  for (const id of ids) await expect(credentials(id)).resolves.toBe(changed.get(id) ?? `secret of ${id}`);
});

test('interrupted, it continues when it is run again; of two at once the second is refused', async () => {
  const ids = await addIntegrations(60);
  const columns = columnOf('integration');
  // The second batch meets a row that cannot be written.
  await app.sql(`
    create function fail_update() returns trigger language plpgsql as 'begin raise exception ''interrupted''; end';
    create trigger interruption before update on integration for each row when (old.id = '${ids.toSorted()[30]}')
      execute function fail_update()`);
  await expect(rotateKeys(db, after, columns, 20)).rejects.toThrow('interrupted');
  await app.sql('drop trigger interruption on integration; drop function fail_update()');
  await db.connection().execute(async (other) => {
    await sql`select pg_advisory_lock(7205002)`.execute(other);
    await expect(rotateKeys(db, after, ENCRYPTED_COLUMNS)).rejects.toThrow('under way');
    await sql`select pg_advisory_unlock(7205002)`.execute(other);
  });
  const [{ reencrypted } = { reencrypted: 0 }] = await rotateKeys(db, after, columns, 20);
  expect(reencrypted).toBe(40);
  for (const id of ids) await expect(credentials(id)).resolves.toBe(`secret of ${id}`);
});

test('a value under a key that is not there is counted and left alone', async () => {
  const [id = ''] = await addIntegrations(1);
  const stranger = createEncryption(named('lost')).encrypt('secret', integrationSecretContext(id));
  await app.sql('update integration set credentials = ? where id = ?', [stranger, id]);
  await expect(rotateKeys(db, after, columnOf('integration'))).resolves.toMatchObject([
    { reencrypted: 0, unreadable: 1 },
  ]);
  await expect(app.sql('select credentials from integration where id = ?', [id])).resolves.toEqual([
    { credentials: stranger },
  ]);
});
