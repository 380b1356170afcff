import pg from 'pg';
import { connectionOptions } from '../../domain/kernel/data/pool.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { engineAway } from '../support/launch.ts';
import { guardedRoutes, makeExamples } from './examples.ts';

let app: TestApp;
let tables: string[];
let asApp: pg.Client;

beforeAll(async () => {
  app = await testApp({ launch: engineAway, commands: ['analyze', 'build'] });
  const examples = makeExamples(app);
  for (const route of guardedRoutes) await examples.of(route);
  const rows = await app.sql<{ table_name: string }>(
    `select table_name from information_schema.columns where table_schema = 'public' and column_name = 'tenant_id' order by 1`,
  );
  tables = rows.map(({ table_name }) => table_name);
  asApp = new pg.Client(connectionOptions({ databaseUrl: app.databaseUrl, role: 'quayside_app' }));
  await asApp.connect();
});
afterAll(async () => {
  await asApp.end();
  await app.close();
});

const actAs = (tenantId: string) => asApp.query(`select set_config('app.tenant_id', $1, false)`, [tenantId]);

/** Rows of a table that the application's role sees now; a table it has no right to has none. */
async function visibleTenants(table: string): Promise<string[]> {
  try {
    const { rows } = await asApp.query<{ tenant_id: string }>(`select distinct tenant_id from ${table}`);
    return rows.map(({ tenant_id }) => tenant_id);
  } catch (error) {
    expect((error as Error).message).toMatch(/permission denied/);
    return [];
  }
}

test('every table of a tenant is fenced: with no tenant set nothing is seen, with one set only its rows', async () => {
  expect(tables.length).toBeGreaterThan(5);
  for (const table of tables) {
    await actAs('');
    expect([table, await visibleTenants(table)]).toEqual([table, []]);
    await actAs(app.tenant.id);
    const seen = await visibleTenants(table);
    expect([table, seen.filter((tenant) => tenant !== app.tenant.id)]).toEqual([table, []]);
  }
});

/** Tables of a tenant that a token with projects needs, although their rows have no project. */
const OPEN_TO_LIMITED_TOKENS = [
  // Ids and sizes of SARIF logs, which are stored before it is known what they are of; no route lists them.
  'code_analysis_body',
  // Kept per credential.
  'idempotency_key',
  // Rules ask them who may decide and approve; no route shows them to such a token.
  'membership',
  // Digests and sizes of contents that the files of several orgs may share; no route lists them.
  'org_content',
  'team',
];

test('every table of a tenant is limited for tokens with projects, or listed here', async () => {
  const limited = await app.sql<{ table_name: string }>(
    `select tablename as table_name from pg_policies where policyname = 'project' and permissive = 'RESTRICTIVE'`,
  );
  const names = new Set(limited.map(({ table_name }) => table_name));
  expect(tables.filter((table) => !names.has(table))).toEqual(OPEN_TO_LIMITED_TOKENS);
});

test('a token whose projects are gone sees no row of any limited table', async () => {
  await actAs(app.tenant.id);
  await asApp.query(`select set_config('app.project_ids', '{}', false)`);
  for (const table of tables.filter((name) => !OPEN_TO_LIMITED_TOKENS.includes(name))) {
    const seen = (await visibleTenants(table)).length;
    // What holds for the whole tenant holds for each project.
    expect([table, seen > 0 && table !== 'integration']).toEqual([table, false]);
  }
  await asApp.query(`select set_config('app.project_ids', '', false)`);
});

test('a row of another tenant can be neither written nor taken', async () => {
  await actAs(app.tenant.id);
  const [other] = await app.sql<{ id: string }>(`select id from tenant where slug = 'other'`);
  const insert = `insert into project (id, tenant_id, identifier, platform, default_branch) values (gen_random_uuid(), $1, 'a/b', 'host-a', 'main')`;
  await expect(asApp.query(insert, [other?.id])).rejects.toThrow(/row-level security/);
  await expect(asApp.query('update project set tenant_id = $1', [other?.id])).rejects.toThrow(/row-level security/);
});

test('the role of the application owns nothing and passes no fence', async () => {
  const [role] = await app.sql<{ rolsuper: boolean; rolbypassrls: boolean; owned: string }>(
    `select rolsuper, rolbypassrls, (select count(*) from pg_class c where c.relowner = r.oid) as owned from pg_roles r where rolname = 'quayside_app'`,
  );
  expect(role).toMatchObject({ rolsuper: false, rolbypassrls: false });
  expect(Number(role?.owned)).toBe(0);
});

test('people of other tenants are not visible', async () => {
  await actAs(app.tenant.id);
  const { rows } = await asApp.query<{ email: string }>('select email from user_account');
  const seen = rows.map(({ email }) => email);
  expect(seen).toEqual(expect.arrayContaining([app.member.email, app.owner.email]));
  expect(seen).not.toContain(app.stranger.email);
  const aliases = await asApp.query('select 1 from user_alias where email = $1', [app.stranger.email]);
  expect(aliases.rows).toEqual([]);
});
