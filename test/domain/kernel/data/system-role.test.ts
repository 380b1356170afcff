import pg from 'pg';
import { type TestDatabase, testDatabase } from '../../../support/postgres.ts';

const SYSTEM = 'quayside_app_system';

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

/** What a role may do with tables and columns, a line each. */
async function rightsOf(role: string): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `with role as (select oid from pg_roles where rolname = $1)
     select format('%s %s', a.privilege_type, c.oid::regclass) as line
       from role, pg_class c, aclexplode(c.relacl) a where a.grantee = role.oid
     union all select format('%s %s.%s', a.privilege_type, t.attrelid::regclass, t.attname)
       from role, pg_attribute t, aclexplode(t.attacl) a where a.grantee = role.oid
     order by 1`,
    [role],
  );
  return rows.map(({ line }) => line);
}

test('the system role sees what deliveries and sweeps need, and nothing else', async () => {
  const rights = await rightsOf(SYSTEM);
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
    'org_maintenance',
    'privilege_grant',
    'project',
    'release_candidate',
    'verification',
    'work_item_request',
  ]);
});
