import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import { type TestDatabase, emptyDatabase } from '../../../support/postgres.ts';

const APP = `upgrade_${process.pid}`;
const [SYSTEM, LANES] = [`${APP}_system`, `${APP}_lanes`];
const VERSION_BEFORE = 'Migration20261121001450_audit_append_in_sets';
const [TENANT, WEBHOOK] = ['018f0000-0000-7000-8000-000000000001', '018f0000-0000-7000-8000-000000000002'];

const databases: { database: TestDatabase; client: pg.Client }[] = [];

afterAll(async () => {
  for (const { database, client } of databases) {
    await client.end();
    await database.drop();
  }
});

const MIGRATE = new URL('../../../../domain/migrate.ts', import.meta.url).href;

/** In a process of its own, as migrations read their roles when they are loaded; roles belong to the cluster. */
async function migrate(databaseUrl: string, to?: string): Promise<void> {
  const code = `const { migrate } = await import('${MIGRATE}'); await migrate(process.argv[1], { to: process.argv[2] });`;
  await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', code, databaseUrl, ...(to ? [to] : [])],
    {
      env: { ...process.env, DATABASE_APP_ROLE: APP },
    },
  );
}

async function migrated(to?: string): Promise<pg.Client> {
  const database = await emptyDatabase();
  await migrate(database.url, to);
  const client = new pg.Client(database.url);
  await client.connect();
  databases.push({ database, client });
  return client;
}

/** Everything that a role may do in a database, one line each. */
async function rightsOf(client: pg.Client, role: string): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `with role as (select oid from pg_roles where rolname = $1)
     select format('%s %s', a.privilege_type, c.oid::regclass) as line
       from role, pg_class c, aclexplode(c.relacl) a where a.grantee = role.oid
     union all select format('%s %s.%s', a.privilege_type, t.attrelid::regclass, t.attname)
       from role, pg_attribute t, aclexplode(t.attacl) a where a.grantee = role.oid
     union all select format('%s %s', a.privilege_type, p.oid::regprocedure)
       from role, pg_proc p, aclexplode(p.proacl) a where a.grantee = role.oid
     union all select format('%s %s', a.privilege_type, n.nspname)
       from role, pg_namespace n, aclexplode(n.nspacl) a where a.grantee = role.oid
     union all select format('policy %s on %s: %s, %s', p.polname, p.polrelid::regclass,
         pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
       from role, pg_policy p where role.oid = any (p.polroles)
     order by 1`,
    [role],
  );
  return rows.map(({ line }) => line);
}

/** Gives policies their name of before. */
const renamePolicies = (client: pg.Client) =>
  client.query(`
    do $$ declare p record; begin
      for p in select polrelid::regclass as relation from pg_policy where polname = 'system' loop
        execute format('alter policy system on %s rename to lanes', p.relation);
      end loop;
    end $$`);

async function webhooksSeenBy(client: pg.Client, role: string): Promise<number> {
  await client.query(`set role ${role}`);
  try {
    return (await client.query('select id from webhook')).rowCount ?? 0;
  } finally {
    await client.query('reset role');
  }
}

test('a database of the version before gets the same rights as a new one, and its old role goes on', async () => {
  const upgraded = await migrated(VERSION_BEFORE);
  const neighbour = await migrated(VERSION_BEFORE);
  await upgraded.query(`insert into tenant (id, slug) values ('${TENANT}', 'acme')`);
  await upgraded.query(
    `insert into webhook
       (id, tenant_id, name, event, url, provider, method, timeout_ms, retry_count, retry_delay_ms, secret, created_by)
     values ('${WEBHOOK}', '${TENANT}', 'x', 'push', 'http://127.0.0.1:9/', 'custom', 'POST', 1000, 1, 1000, 'x', 'x')`,
  );
  // As the version before left them: renaming a role keeps its rights, in all databases.
  for (const client of [upgraded, neighbour]) await renamePolicies(client);
  await upgraded.query(`alter role ${SYSTEM} rename to ${LANES}`);
  const before = await rightsOf(neighbour, LANES);
  expect(before.length).toBeGreaterThan(30);
  expect(await rightsOf(upgraded, LANES)).toEqual(before);

  await migrate(databases[0]?.database.url ?? '');
  const fresh = await migrated();
  expect(await rightsOf(upgraded, SYSTEM)).toEqual(await rightsOf(fresh, SYSTEM));
  expect(await rightsOf(upgraded, LANES)).toEqual(['USAGE public']);
  expect(await rightsOf(fresh, LANES)).toEqual([]);
  // A process of the version before goes on under the old name; another database of the cluster keeps its rights.
  for (const role of [SYSTEM, LANES]) expect(await webhooksSeenBy(upgraded, role)).toBe(1);
  expect(await rightsOf(neighbour, LANES)).toEqual(before);
  await migrate(databases[1]?.database.url ?? '');
  expect(await rightsOf(neighbour, SYSTEM)).toEqual(await rightsOf(fresh, SYSTEM));
});

test('the system role sees what deliveries and sweeps need, and nothing else', async () => {
  const client = databases.at(-1)?.client as pg.Client;
  const rights = await rightsOf(client, SYSTEM);
  const tables = rights.flatMap((line) => /^(?:SELECT|INSERT|UPDATE|DELETE) ([a-z_]+)$/.exec(line)?.[1] ?? []);
  expect([...new Set(tables)].toSorted()).toEqual([
    'ai_budget_month',
    'ai_call',
    'ai_report',
    'ai_usage_day',
    'approval',
    'audit_export',
    'browser_host',
    'browser_session',
    'build_preview',
    'chat_action',
    'chat_message',
    'code_analysis',
    'code_analysis_body',
    'code_analysis_schedule',
    'crm_org',
    'environment_lock_ticket',
    'gc_check',
    'git_mirror',
    'metric_series',
    'metric_series_day',
    'metric_window',
    'mock_call',
    'mock_drift',
    'mock_scenario',
    'org_component_change',
    'org_component_file',
    'org_content',
    'org_limit_hour',
    'org_limit_sample',
    'org_limit_state',
    'org_sync',
    'pull_request_refresh',
    'release_deployment',
    'review_assignment',
    'review_instance',
    'review_pool',
    'sweep_failure',
    'webhook',
    'webhook_attempt',
    'webhook_delivery',
  ]);
  const columns = rights.flatMap((line) => /^[A-Z]+ ([a-z_]+)\.[a-z_]+$/.exec(line)?.[1] ?? []);
  expect([...new Set(columns)].toSorted()).toEqual([
    'environment',
    'flow_check',
    'flow_run',
    'flow_schedule',
    'project',
    'work_item_request',
  ]);
});
