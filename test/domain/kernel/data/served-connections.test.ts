import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import { connectDatabase, type DatabaseConnection } from '../../../../domain/kernel/data/database.ts';
import type { MigrateOptions } from '../../../../domain/migrate.ts';
import { assertFenced, createPool } from '../../../../domain/kernel/data/pool.ts';
import { type Pooler, findPooler, startPooler } from '../../../support/pooler.ts';
import { emptyDatabase, type TestDatabase } from '../../../support/postgres.ts';

// Roles belong to the cluster, which other tests use at the same time.
const ROLE = `fenced_${process.pid}`;
const [OWNER, LOGIN, INSIDER, EXEMPT] = [`${ROLE}_owner`, `${ROLE}_login`, `${ROLE}_insider`, `${ROLE}_exempt`];
const TENANT = '018f0000-0000-7000-8000-000000000001';

let database: TestDatabase;
let superuser: pg.Client;
const connections: DatabaseConnection[] = [];

const urlOf = (login: string, at = database.url) => {
  const url = new URL(at);
  url.username = login;
  url.password = 'secret';
  return url.href;
};

const inRole: NodeJS.ProcessEnv = { ...process.env, DATABASE_APP_ROLE: ROLE };
const run = promisify(execFile);

/** In a process of its own, as migrations read their roles when they are loaded. */
async function migrateAsOwner(options: MigrateOptions = {}): Promise<void> {
  const path = new URL('../../../../domain/migrate.ts', import.meta.url).href;
  const code = `const { migrate } = await import('${path}'); await migrate('${urlOf(OWNER)}', ${JSON.stringify(options)});`;
  await run(process.execPath, ['--input-type=module', '--eval', code], { env: inRole });
}

async function admin<Answer>(...args: string[]): Promise<Answer> {
  const { NODE_OPTIONS: _, ...env } = inRole;
  const command = new URL('../../../../tools/admin.ts', import.meta.url).pathname;
  const { stdout } = await run(process.execPath, [command, ...args], { env: { ...env, DATABASE_URL: urlOf(OWNER) } });
  return JSON.parse(stdout) as Answer;
}

/** What the first use of a connection says. */
async function firstUse(databaseUrl: string, role: string): Promise<string> {
  const connection = connectDatabase({ databaseUrl, role, poolSize: 1 }, () => undefined);
  connections.push(connection);
  const outcome = connection.db.selectFrom('tenant').select('slug').execute();
  return outcome.then(
    (rows) => `${rows.length} rows`,
    (error: Error) => error.message,
  );
}

async function as<Row extends pg.QueryResultRow>(login: string, text: string): Promise<Row[]> {
  const client = new pg.Client(urlOf(login));
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  database = await emptyDatabase();
  superuser = new pg.Client(database.url);
  await superuser.connect();
  const name = new URL(database.url).pathname.slice(1);
  await superuser.query(`
    create role ${OWNER} login createrole password 'secret';
    alter schema public owner to ${OWNER};
    grant create on database ${name} to ${OWNER}`);
  await migrateAsOwner();
  await superuser.query(`insert into tenant (id, slug) values ('${TENANT}', 'before')`);
  // As the version before left it.
  await superuser.query(`
    create or replace function tenant_slug(tenant uuid) returns text language sql as 'select null::text';
    comment on function tenant_slug(uuid) is 'before'`);
  await superuser.query(`create role ${LOGIN} login password 'secret'`);
  await migrateAsOwner({ serviceLogin: LOGIN });
  await superuser.query(`
    create role ${INSIDER} nologin;
    grant usage on schema public to ${INSIDER};
    grant ${OWNER} to ${INSIDER};
    create role ${EXEMPT} nologin bypassrls;
    grant ${INSIDER}, ${EXEMPT} to ${LOGIN} with inherit false`);
});

afterAll(async () => {
  for (const { close } of connections) await close();
  await superuser.end();
  await database.drop();
});

describe('an owner of the schema that is no superuser', () => {
  test('upgrades the database, its privileged functions too, and sees no row of it', async () => {
    const { rows } = await superuser.query(
      `select prosecdef as "isPrivileged", tenant_slug($1) as slug from pg_proc where proname = 'tenant_slug'`,
      [TENANT],
    );
    expect(rows).toEqual([{ isPrivileged: true, slug: 'before' }]);
    expect(await as(OWNER, 'select id from tenant')).toEqual([]);
    await expect(as(OWNER, `insert into tenant (id, slug) values (gen_random_uuid(), 'x')`)).rejects.toThrow(
      'row-level security',
    );
  });

  test('migrates again without anything to do', async () => {
    await migrateAsOwner();
    expect(await as(OWNER, 'select id from tenant')).toEqual([]);
  });

  test('runs the commands of operators', async () => {
    const made = await admin<{ slug: string }>('create-tenant', '--slug', 'fresh', '--owner-email', 'a@example.com');
    expect(made).toMatchObject({ slug: 'fresh' });
    const { length } = await admin<unknown[]>('list-tenants');
    expect(length).toBe(2);
  });
});

test.each([
  ['the unprivileged login serves', LOGIN, ROLE, /^0 rows$/],
  ['it serves sweeps, which see no tenants', LOGIN, `${ROLE}_system`, /permission denied/],
  ['a member of the owner does not', LOGIN, INSIDER, /owns tables of the service, or is a member of their owner/],
  ['a role that row-level security exempts does not', LOGIN, EXEMPT, /BYPASSRLS/],
  ['the owner itself does not', OWNER, OWNER, /owns tables/],
])('%s', async (_, login, role, outcome) => {
  expect(await firstUse(urlOf(login), role)).toMatch(outcome);
});

test('the superuser does not serve, and the start says so', async () => {
  const role = new URL(database.url).username;
  expect(await firstUse(database.url, role)).toMatch(/superuser/);
  await expect(assertFenced({ databaseUrl: database.url, role })).rejects.toThrow('superuser');
});

test('a database that is away does not end the start', async () => {
  await assertFenced({ databaseUrl: 'postgres://x:y@127.0.0.1:1/x', role: ROLE });
});

const pgbouncer = findPooler();
// It comes with Debian's package pgbouncer, which .ci/run installs where it can.
(pgbouncer === undefined ? describe.skip : describe)('behind PgBouncer in transaction mode', () => {
  let pooler: Pooler;

  beforeAll(async () => {
    pooler = await startPooler(pgbouncer ?? '', {
      server: new URL(database.url),
      user: { name: LOGIN, password: 'secret' },
    });
  });
  afterAll(() => pooler.stop());

  test('the role that was asked for is lost: refused', async () => {
    expect(await firstUse(urlOf(LOGIN, pooler.url), ROLE)).toMatch(
      new RegExp(`ran a statement as ${LOGIN} instead of ${ROLE}: connect to PostgreSQL directly`),
    );
  });

  test('a login that takes on the role by itself is refused, too', async () => {
    await superuser.query(`alter role ${LOGIN} set role = ${ROLE}`);
    await pooler.dropConnections();
    expect(await firstUse(urlOf(LOGIN, pooler.url), ROLE)).toMatch(/A connection pooler stands between/);
  });
});

test('a query without an answer fails, and the next one has another connection', async () => {
  const pool = createPool({ databaseUrl: database.url, poolSize: 1, answerMs: 100 }, () => undefined);
  await expect(pool.query('select pg_sleep(2)')).rejects.toThrow('Query read timeout');
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await pool.end();
});
