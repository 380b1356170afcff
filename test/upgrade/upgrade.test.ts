import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { flowRunsSweep } from '../../activities/delivery/flows/flows.sweep.ts';
import { runSweep } from '../../activities/kernel/system/run-sweep.ts';
import { migrate } from '../../domain/migrate.ts';
import { activityDeps } from '../support/activities.ts';
import { type TestApp, testApp } from '../support/app.ts';
import type { Json } from '../support/client.ts';
import { emptyDatabase, type TestDatabase, testDatabase } from '../support/postgres.ts';
import { schemaCatalog } from '../support/schema-catalog.ts';
import { eventually, startWorker } from '../support/worker.ts';
import { load } from './load.ts';
import {
  access,
  BASELINE,
  read,
  readRows,
  restoreRelease,
  rowsOfRelease,
  withClient,
  writeRows,
} from './old-release.ts';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');
const rows = rowsOfRelease();
const { tenants, keys } = access();

let upgraded: TestDatabase;
let fresh: TestDatabase;
beforeAll(async () => {
  [upgraded, fresh] = [await emptyDatabase(), await testDatabase()];
  await restoreRelease(upgraded.url);
});
afterAll(() => Promise.all([upgraded.drop(), fresh.drop()]));

test('a schema of 1.0.0 is brought up to date by what came after, and is then as a new one is', async () => {
  const { migrations } = await migrate(upgraded.url);

  const all = globSync('Migration*.ts', { cwd: MIGRATIONS }).map((file) => file.replace(/\.ts$/, ''));
  expect(migrations).toEqual(all.filter((name) => !BASELINE.includes(name)).toSorted());
  expect(await withClient(upgraded.url, schemaCatalog)).toEqual(await withClient(fresh.url, schemaCatalog));
});

test('after that all rows of 1.0.0 are there with what they held, and 1.0.0 could go on writing such rows', async () => {
  expect(await readRows(upgraded.url, rows)).toEqual(rows);
  await writeRows(fresh.url, rows);
  expect(await readRows(fresh.url, rows)).toEqual(rows);
});

test.each([
  ['renames a column', 'alter table environment rename column name to title', /column "name"/],
  ['drops a column', 'alter table webhook_delivery drop column payload', /column "payload"/],
  ['adds a column that must be given', 'alter table project add column owner text not null', /"owner"/],
])('a migration that %s would be found', async (_, statement, message) => {
  const database = await testDatabase();
  try {
    await withClient(database.url, (client) => client.query(statement));
    await expect(writeRows(database.url, rows)).rejects.toThrow(message);
  } finally {
    await database.drop();
  }
});

test('under load it is brought up to date, and what waited goes on', async () => {
  const database = await emptyDatabase();
  await restoreRelease(database.url);
  await withClient(database.url, (client) => client.query(AS_OF_TODAY));
  const app = await testApp({
    databaseUrl: database.url,
    tenants,
    env: { ENCRYPTION_KEYS: keys.encryptionKeys, TOKEN_KEYS: keys.tokenKeys },
    commands: ['execute-release'],
  });
  try {
    const { goesOn, stop } = load(app);
    await goesOn(3);
    await migrate(database.url);
    await goesOn(3, { isMigrated: true });
    await assertGoesOn(app);
    await goesOn(3, { isMigrated: true });
    await stop();
  } finally {
    await app.close();
    await database.drop();
  }
});

/** What was promised for some time has not expired, and the runs have waited for some minutes. */
const AS_OF_TODAY = `
  update approval set expires_at = now() + interval '1 day' where status = 'requested';
  update environment_lock_ticket set expires_at = now() + interval '1 hour' where state = 'held';
  update application_token set expires_at = now() + interval '1 day';
  update flow_run set updated_at = now() - interval '11 minutes', launched_at = null;
`;

/** The engine knows none of the runs, as after the loss of its store: the sweep starts them under their rows. */
async function assertGoesOn(app: TestApp): Promise<void> {
  const owner = app.as(await app.signIn(app.owner));
  expect(await owner.get(200, '/api/audit/verify')).toMatchObject({ isIntact: true });
  const stranger = app.as(await app.signIn(app.stranger));
  expect(await stranger.get(200, '/api/audit/verify')).toMatchObject({ isIntact: true });

  const backend = activityDeps(app);
  const worker = await startWorker(app, ['flows-v1', 'commands-v1', 'approvals-v1', 'environment-locks-v1']);
  try {
    const list = new URLSearchParams({ repositoryIdentifier: 'acme/waiting' });
    const { runs: waiting }: { runs: Json[] } = await owner.get(200, `/api/flows/runs?${list}`);
    expect(waiting.map(({ rawStatus }) => rawStatus).toSorted()).toEqual([
      'waiting_approval',
      'waiting_lock',
      'waiting_window',
    ]);
    await runSweep(backend.deps, flowRunsSweep);

    const { items: approvals } = await owner.get(200, '/api/flows/approvals');
    const ofRun = approvals.find((each: Json) => waiting.some(({ id }) => id === each.executionId));
    await owner.post(200, `/api/flows/approvals/${ofRun.id}/approve`, {});
    const environments: Json[] = await owner.get(200, `/api/environments?${list}`);
    const pathOf = (name: string) => `/api/environments/${environments.find((each) => each.name === name).id}`;
    await owner.patch(200, pathOf('frozen'), { promotion: null });
    for (const executionId of ['first', 'second']) {
      const { tickets } = await owner.get(200, `${pathOf('locked')}/locks`);
      const { ticketId } = tickets.find((each: Json) => each.executionId === executionId);
      await owner.delete(204, `${pathOf('locked')}/locks/${ticketId}`);
    }
    for (const { id } of waiting)
      await eventually(
        () => owner.get(200, `/api/flows/runs/${id}`),
        ({ rawStatus }) => rawStatus === 'succeeded',
      );
  } finally {
    await worker.stop();
    await backend.close();
  }
}

test('no migration of 1.0.0 is changed: a change of the schema is a migration of its own', () => {
  const digests = BASELINE.map((name) => {
    const code = readFileSync(join(MIGRATIONS, `${name}.ts`), 'utf8').replaceAll(/\/\*\*.*?\*\//gs, '');
    return [name, createHash('sha256').update(code.replaceAll(/\s+/g, ' ')).digest('hex')];
  });
  expect(Object.fromEntries(digests)).toEqual(JSON.parse(read('migrations.json')));
});

test('a database of a version before 1.0.0 is refused, and stays as it is', async () => {
  const database = await emptyDatabase();
  try {
    await withClient(database.url, (client) =>
      client.query(
        `create table schema_migration (id serial primary key, name varchar(255), executed_at timestamptz default now());
         insert into schema_migration (name) values ('Migration20261121000100_tenants')`,
      ),
    );
    await expect(migrate(database.url)).rejects.toThrow('the database is of a version before 1.0.0');
    const tables = await withClient(database.url, (client) =>
      client.query(`select from pg_tables where schemaname = 'public'`),
    );
    expect(tables.rowCount).toBe(1);
  } finally {
    await database.drop();
  }
});
