import pg from 'pg';
import { assertFenced } from '../../../../domain/kernel/data/pool.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { addHost, type SessionStage, sessionStage } from '../../../support/browser-sessions.ts';

const ROLE = 'quayside_app_browsers';
// Logins belong to the cluster, which other tests use at the same time.
const LOGIN = `browser_host_${process.pid}`;
const host = { id: newId(), queue: 'browser-host-x' };

let app: TestApp;
let stage: SessionStage;
let client: pg.Client;
let session: { id: string; projectId: string };
let elsewhere: string;

const urlOfLogin = () => {
  const url = new URL(app.databaseUrl);
  [url.username, url.password] = [LOGIN, 'secret'];
  return url.href;
};

beforeAll(async () => {
  app = await testApp();
  await app.sql(`create role ${LOGIN} login password 'secret'`);
  await app.sql(`grant ${ROLE} to ${LOGIN}`);
  await addHost(app, host);
  stage = await sessionStage(app);
  const [local, hosted] = [
    await stage.record(await stage.pullRequest()),
    await stage.record(await stage.pullRequest()),
  ];
  const [row] = await app.sql<{ projectId: string }>(
    'select project_id as "projectId" from browser_session where id = ?',
    [local.id],
  );
  session = { id: String(local.id), projectId: row?.projectId ?? '' };
  elsewhere = String(hosted.id);
  await app.sql(`update browser_session set provider = 'browserbase' where id = ?`, [elsewhere]);
  client = new pg.Client(urlOfLogin());
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await app.sql(`drop owned by ${LOGIN}`);
  await app.sql(`drop role ${LOGIN}`);
  await app.close();
});

/** What a statement of the host's login does in a transaction of the tenant; it is rolled back. */
async function outcomeOf(statement: string, values: unknown[] = [], tenantId = app.tenant.id): Promise<string> {
  await client.query('begin');
  try {
    await client.query(`select set_config('app.tenant_id', $1, true)`, [tenantId]);
    return `${(await client.query(statement, values)).rowCount} rows`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await client.query('rollback');
  }
}

/** Appends an entry of a session, as it was created, with changes. */
async function audited(changes: object): Promise<string> {
  const [entry] = await app.sql<{ entry: object }>(
    `select to_jsonb(e) || jsonb_build_object('occurredAt', occurred_at, 'entityType', entity_type, 'entityId', entity_id,
       'head', '', 'middle', '', 'tail', '') as entry
     from audit_entry e where action = 'browser_session.created' and entity_id = ?`,
    [session.id],
  );
  const appended = { ...entry?.entry, id: newId(), action: 'browser_session.live', ...changes };
  return outcomeOf('select audit_append_of_browsers($1, $2)', [app.tenant.id, JSON.stringify([appended])]);
}

const rights = async () =>
  (
    await app.sql<{ line: string }>(
      `select format('%s %s', c.relname, string_agg(lower(a.privilege_type), ', ' order by a.privilege_type)) as line
       from pg_class c, aclexplode(c.relacl) a where a.grantee = ?::regrole group by c.relname
       union all select format('%s.%s %s', c.relname, t.attname, string_agg(lower(a.privilege_type), ', ' order by a.privilege_type))
       from pg_class c join pg_attribute t on t.attrelid = c.oid, aclexplode(t.attacl) a where a.grantee = ?::regrole
       group by c.relname, t.attname
       union all select format('%s execute', p.oid::regprocedure) from pg_proc p, aclexplode(p.proacl) a
       where a.grantee = ?::regrole
       order by 1`,
      [ROLE, ROLE, ROLE],
    )
  ).map(({ line }) => line);

test('the role of hosts has what their statements need, and nothing else', async () => {
  const all = await rights();
  const whole = all.filter((line) => !/^\w+\./.test(line));
  expect(whole.toSorted()).toEqual([
    'audit_append_of_browsers(uuid,jsonb) execute',
    'browser_host delete, insert, select',
    'browser_replay_page select',
    'browser_session select',
    'webhook_lane_names(uuid[]) execute',
  ]);
  const columns = Map.groupBy(
    all.filter((line) => /^\w+\./.test(line)),
    (line) => line.replace(/\.\w+/, ''),
  );
  expect(Object.fromEntries([...columns].map(([what, lines]) => [what, lines.length]))).toEqual({
    'browser_host update': 3,
    'browser_replay_page insert': 5,
    'browser_replay_page insert, update': 1,
    'browser_replay_page update': 5,
    'browser_session update': 13,
    'browser_session_event insert': 8,
    'environment select': 3,
    'project select': 3,
    'webhook_delivery insert': 5,
    'webhook_delivery insert, select': 1,
    'webhook_subscription select': 3,
  });
});

test.each([
  ['people', 'select email from user_account'],
  ['who is signed in', 'select id from auth_session'],
  ['application tokens', 'select token_hash from application_token'],
  ['integrations', 'select id from integration'],
  ['orgs', 'select username from crm_org'],
  ['tokens of orgs', 'select * from crm_token'],
  ['webhooks and their secrets', 'select secret from webhook'],
  ['what deliveries said', 'select payload from webhook_delivery'],
  ['the audit trail', 'select id from audit_entry'],
  ['settings of environments', 'select browser from environment'],
  ['live links', 'select id from browser_live_link'],
  ['the timelines of sessions', 'select summary from browser_session_event'],
])('it does not read %s', async (_, statement) => {
  await expect(outcomeOf(statement)).resolves.toMatch(/^permission denied for table/);
});

test.each([
  ['takes on no other role', 'set local role quayside_app', []],
  ['makes no session', 'insert into browser_session (id) values ($1)', [newId()]],
  ['removes none', 'delete from browser_session', []],
  ['changes nothing of a session but its course', `update browser_session set org_username = 'x'`, []],
  ['adds to the trail by its own function alone', `select audit_append($1, '[]')`, ['tenant']],
  ['changes no project', `update project set identifier = 'x'`, []],
])('it %s', async (_, statement, values) => {
  const given = values.map((value) => (value === 'tenant' ? app.tenant.id : value));
  await expect(outcomeOf(statement, given)).resolves.toMatch(/^permission denied/);
});

test('it sees the sessions of hosts in the tenant that is set, and changes no others', async () => {
  const strangers = (await app.sql<{ id: string }>('select id from tenant where id <> ?', [app.tenant.id]))[0]?.id;
  await expect(outcomeOf('select id from browser_session')).resolves.toBe('1 rows');
  await expect(outcomeOf('select id from browser_session', [], strangers)).resolves.toBe('0 rows');
  await expect(client.query('select id from browser_session')).resolves.toMatchObject({ rowCount: 0 });
  const change = `update browser_session set status = 'error' where id = $1`;
  await expect(outcomeOf(change, [session.id])).resolves.toBe('1 rows');
  await expect(outcomeOf(change, [elsewhere])).resolves.toBe('0 rows');
});

test('it sees no session that has been over for a day, and nothing of a tenant that has no others', async () => {
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: 'acme/unlent', platform: 'host-a' });
  await owner.post(201, '/api/webhooks', {
    name: 'all',
    event: 'release.deployed',
    config: { url: 'http://127.0.0.1:9/' },
  });
  const hooked = await owner.post(201, '/api/webhooks', {
    name: 'sessions',
    event: 'browser_session.live',
    config: { url: 'http://127.0.0.1:9/' },
  });
  const reads = {
    sessions: 'select id from browser_session',
    projects: 'select id from project',
    subscriptions: 'select webhook_id from webhook_subscription',
  };
  const seen = async () => {
    const outcomes: Record<string, string> = {};
    for (const [what, statement] of Object.entries(reads)) outcomes[what] = await outcomeOf(statement);
    return outcomes;
  };
  await expect(seen()).resolves.toEqual({ sessions: '1 rows', projects: '1 rows', subscriptions: '1 rows' });

  const over = (hours: number, recording = 'none') =>
    app.sql(
      `update browser_session set status = 'ended', ended_at = now() - ? * interval '1 hour', recording_state = ?,
         updated_at = now() - ? * interval '1 hour' where id = ?`,
      [hours, recording, hours, session.id],
    );
  try {
    await over(25, 'processing');
    await expect(outcomeOf(`update browser_session set recording_state = 'ready', updated_at = now()`)).resolves.toBe(
      '1 rows',
    );
    await over(23);
    await expect(outcomeOf(reads.sessions)).resolves.toBe('1 rows');
    await over(25);
    await expect(seen()).resolves.toEqual({ sessions: '0 rows', projects: '0 rows', subscriptions: '0 rows' });
    const deliver = `insert into webhook_delivery (id, tenant_id, webhook_id, event, payload)
      values ($1, $2, $3, 'browser_session.live', '{}')`;
    await expect(outcomeOf(deliver, [newId(), app.tenant.id, hooked.id])).resolves.toMatch(/row-level security/);
    await expect(audited({})).resolves.toMatch(/audits what it does with its sessions alone/);
  } finally {
    await app.sql(
      `update browser_session set status = 'live', ended_at = null, recording_state = 'none', updated_at = now() where id = ?`,
      [session.id],
    );
    await owner.delete(204, `/api/webhooks/${hooked.id}`);
  }
});

test('it writes to the timelines of these alone', async () => {
  const note = `insert into browser_session_event (tenant_id, session_id, project_id, occurred_at, kind, summary, by_email)
    values ($1, $2, $3, now(), 'x', 'x', 'x')`;
  await expect(outcomeOf(note, [app.tenant.id, session.id, session.projectId])).resolves.toBe('1 rows');
  await expect(outcomeOf(note, [app.tenant.id, elsewhere, session.projectId])).resolves.toMatch(/row-level security/);
});

test('it announces nothing but what happens to sessions', async () => {
  const hooked = await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'x',
    event: 'browser_session.live',
    config: { url: 'http://127.0.0.1:9/' },
  });
  const deliver = `insert into webhook_delivery (id, tenant_id, webhook_id, event, payload) values ($1, $2, $3, $4, '{}')
    returning webhook_id`;
  const deliveryOf = (event: string) => outcomeOf(deliver, [newId(), app.tenant.id, hooked.id, event]);
  await expect(deliveryOf('browser_session.live')).resolves.toBe('1 rows');
  await expect(deliveryOf('release.deployed')).resolves.toMatch(/row-level security/);
});

test('it audits what a host does with a session of hosts, and nothing else', async () => {
  await expect(audited({})).resolves.toBe('1 rows');
  for (const changes of [
    { source: 'auth' },
    { entityType: 'user' },
    { action: 'browser_session.deleted' },
    { action: null },
    { entityId: elsewhere },
    { entityId: null },
  ])
    await expect(audited(changes)).resolves.toMatch(/audits what it does with its sessions alone/);
});

test('a host takes no login that could act as more, where that is asked for', async () => {
  const access = { databaseUrl: urlOfLogin(), role: ROLE };
  await assertFenced(access, { isRoleAlone: true });
  const [superuser] = await app.sql<{ name: string }>('select current_user as name');
  await expect(assertFenced({ ...access, databaseUrl: app.databaseUrl }, { isRoleAlone: true })).rejects.toThrow(
    `The login ${superuser?.name} of the database may act as`,
  );
  await app.sql(`grant quayside_app to ${LOGIN} with inherit false`);
  await expect(assertFenced(access, { isRoleAlone: true })).rejects.toThrow('may act as quayside_app, too');
  await app.sql(`revoke quayside_app from ${LOGIN}`);
});
