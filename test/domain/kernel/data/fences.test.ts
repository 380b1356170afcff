import pg from 'pg';
import { testDatabase, type TestDatabase } from '../../../support/postgres.ts';

const [APP, SYSTEM, OPERATOR] = ['quayside_app', 'quayside_app_system', 'quayside_app_operator'];
const BROWSERS = 'quayside_app_browsers';

/** Tables whose rows belong to no tenant, and whom the application sees of them. */
const WITHOUT_TENANT: Record<string, RegExp | undefined> = {
  tenant: /^\(id = .*current_tenant\(\)/,
  user_account: /current_tenant\(\)/,
  user_alias: /current_tenant\(\)/,
  user_identity: /current_tenant\(\)/,
  // Reached through privileged functions only.
  user_recovery_code: undefined,
  user_totp: undefined,
  // Failures to sign in are counted before a tenant is known.
  sign_in_failure: /^true$/,
  known_sign_in: /^true$/,
  rate_limit: /^true$/,
  // Browser hosts serve all tenants; the application only reads them.
  browser_host: /^true$/,
  // Rows of the system role alone.
  sweep_failure: undefined,
};

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

const rowsOf = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
  (await client.query<Row>(text, values)).rows;

const TABLES = `select c.oid, c.relname as name, relrowsecurity and relforcerowsecurity as "isForced",
    exists (select from pg_attribute where attrelid = c.oid and attname = 'tenant_id') as "hasTenant"
  from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 2`;

interface Table {
  oid: number;
  name: string;
  isForced: boolean;
  hasTenant: boolean;
}

describe('the catalog of a migrated database', () => {
  test('row-level security is forced on every table', async () => {
    const tables = await rowsOf<Table>(TABLES);
    expect(tables.length).toBeGreaterThan(45);
    expect(tables.filter(({ isForced }) => !isForced).map(({ name }) => name)).toEqual(['schema_migration']);
  });

  test('each policy for the application holds it to its tenant', async () => {
    const policies = await rowsOf<{ name: string; isPermissive: boolean; using: string; check: string | null }>(
      `select polrelid::regclass::text as name, polpermissive as "isPermissive",
         pg_get_expr(polqual, polrelid) as using, pg_get_expr(polwithcheck, polrelid) as check
       from pg_policy where $1::regrole = any (polroles) or 0 = any (polroles)`,
      [APP],
    );
    const tables = await rowsOf<Table>(TABLES);
    for (const { name, hasTenant } of tables.filter((table) => table.name !== 'schema_migration')) {
      const permissive = policies.filter((policy) => policy.name === name && policy.isPermissive);
      const expected = hasTenant ? /^\(tenant_id = \( SELECT current_tenant\(\)/ : WITHOUT_TENANT[name];
      if (!hasTenant) expect(Object.keys(WITHOUT_TENANT)).toContain(name);
      expect({ name, policies: permissive.length }).toEqual({ name, policies: expected === undefined ? 0 : 1 });
      for (const { using, check } of permissive) {
        expect(using).toMatch(expected as RegExp);
        if (check !== null) expect(check).toEqual(using);
      }
    }
  });

  test('nobody but the roles of the service has a right to any table or sequence, and nobody may empty one', async () => {
    const rights = await rowsOf<{ grantee: string; right: string; name: string }>(
      `select coalesce(nullif(a.grantee, 0)::regrole::text, 'public') as grantee, a.privilege_type as right, c.relname as name
       from pg_class c, aclexplode(c.relacl) a
       where relnamespace = 'public'::regnamespace and a.grantee <> c.relowner`,
    );
    expect([...new Set(rights.map(({ grantee }) => grantee))].toSorted()).toEqual([APP, BROWSERS, OPERATOR, SYSTEM]);
    const more = rights.filter(({ right }) => !['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'USAGE'].includes(right));
    expect(more).toEqual([]);
    expect(rights.filter(({ name }) => name === 'schema_migration').map(({ grantee }) => grantee)).toEqual([OPERATOR]);
  });

  test('the trail can be added to by a function alone, and nobody but operators could change it', async () => {
    const rights = await rowsOf<{ right: string; grantee: string }>(
      `select distinct a.privilege_type as right, a.grantee::regrole::text as grantee
       from pg_class c, aclexplode(c.relacl) a
       where c.relname in ('audit_entry', 'audit_head', 'audit_tally') and a.grantee <> c.relowner
         and a.grantee <> $1::regrole`,
      [OPERATOR],
    );
    expect(rights).toEqual([{ right: 'SELECT', grantee: APP }]);
  });

  test('privileged functions belong to the operators, fix their search path, and are not for everybody', async () => {
    const functions = await rowsOf<{ name: string; owner: string; config: string[] | null; isPublic: boolean }>(
      `select oid::regprocedure::text as name, proowner::regrole::text as owner, proconfig as config,
         proacl is null or exists (select from aclexplode(proacl) a where a.grantee = 0) as "isPublic"
       from pg_proc where prosecdef and pronamespace = 'public'::regnamespace`,
    );
    expect(functions.length).toBeGreaterThan(30);
    for (const { name, owner, config, isPublic } of functions)
      expect({ name, owner, isPublic, path: config?.[0] }).toEqual({
        name,
        owner: OPERATOR,
        isPublic: false,
        path: 'search_path=public, pg_temp',
      });
  });

  test('the roles cannot sign in, pass the fence, or take on another; no view hides one', async () => {
    const roles = await rowsOf<{ rolname: string }>(
      `select rolname from pg_roles where rolname = any ($1)
         and not (rolcanlogin or rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)
         and not exists (select from pg_auth_members where member = pg_roles.oid) order by 1`,
      [[APP, BROWSERS, SYSTEM, OPERATOR]],
    );
    expect(roles.map(({ rolname }) => rolname)).toEqual([APP, BROWSERS, OPERATOR, SYSTEM]);
    expect(
      await rowsOf(
        `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')`,
      ),
    ).toEqual([]);
    expect(
      await rowsOf(`select nspname from pg_namespace n, aclexplode(nspacl) a
      where nspname = 'public' and privilege_type = 'CREATE' and grantee <> n.nspowner`),
    ).toEqual([]);
  });
});
