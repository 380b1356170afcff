import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { ApiClient } from '../../../support/client.ts';
import { engineAway } from '../../../support/launch.ts';

const LIMITS = '/api/observability/limits';
const REPOSITORY = 'acme/shop';

let crm: CrmSimulator;
let app: TestApp;
let owner: ApiClient;
let count = 0;

beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ launch: engineAway });
  owner = app.as(app.owner);
  await addProject(REPOSITORY);
  await owner.post(201, '/api/webhooks', {
    name: 'alerts',
    events: ['org_limit.*'],
    config: { url: 'http://127.0.0.1:9/' },
  });
});
afterAll(async () => {
  await app.close();
  await crm.close();
});

const addProject = (identifier: string, orgLimits?: object) =>
  owner.post(201, '/api/projects', {
    identifier,
    platform: 'host-a',
    ...(orgLimits && { configuration: { metricsAlertConfig: { orgLimits } } }),
  });
const addEnvironment = (name: string, orgUsername?: string, repositoryIdentifier = REPOSITORY) =>
  owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name,
    category: 'test',
    ...(orgUsername !== undefined && { orgUsername }),
  });

/** A registered org with few limits, and an environment of the repository that names it unless told otherwise. */
async function registered({ isNamed = true } = {}): Promise<{ org: SimulatedOrg; orgId: string; environment: string }> {
  const name = `org${++count}`;
  const org = await crm.addOrg({ name, kind: 'production' });
  org.limits = {
    DailyApiRequests: { max: 1_000, used: 0 },
    DataStorageMB: { max: 100, used: 50 },
    DailyScratchOrgs: { max: 0, used: 0 },
  };
  await owner.post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
  if (isNamed) await addEnvironment(name, org.username);
  const { id } = await app.db
    .selectFrom('crm_org')
    .where('username', '=', org.username)
    .select('id')
    .executeTakeFirstOrThrow();
  return { org, orgId: id, environment: name };
}

/** A forced poll is allowed once a minute. */
const mayPollAgain = (orgId: string) =>
  app.sql(`update org_limit_state set forced_at = forced_at - interval '61 seconds' where org_id = ?`, [orgId]);
const dashboard = (org: SimulatedOrg, more: Record<string, string> = {}, client = owner) =>
  client.get(200, `${LIMITS}/dashboard?${new URLSearchParams({ org: org.username, range: 'today', ...more })}`);
async function poll({ org, orgId }: { org: SimulatedOrg; orgId: string }) {
  await mayPollAgain(orgId);
  return dashboard(org, { forceRefresh: 'true' });
}
const summaryOf = async ({ username }: SimulatedOrg, query = '') =>
  (await owner.get(200, `${LIMITS}/summary${query}`)).find(
    ({ orgUsername }: { orgUsername: string }) => orgUsername === username,
  );
const snapshot = (environmentName: string, repositoryIdentifier = REPOSITORY, status = 200) =>
  owner.get(status, `${LIMITS}/snapshot?${new URLSearchParams({ environmentName, repositoryIdentifier })}`);
const eventsOf = async ({ username }: SimulatedOrg) =>
  (
    await app.sql<{ event: string; payload: { orgUsername: string; limitName: string } }>(
      `select event, payload from webhook_delivery where payload->>'orgUsername' = ? order by id`,
      [username],
    )
  ).map(({ event, payload }) => `${event} ${payload.limitName}`);

test('an org is pending until it is polled; then its limits show in all three', async () => {
  const { org, orgId, environment } = await registered();
  expect(await summaryOf(org)).toEqual({
    orgUsername: org.username,
    environmentLabels: [{ name: environment, repositoryIdentifier: REPOSITORY }],
    status: 'pending',
    lastPolledAt: null,
    worstLimit: null,
  });
  expect(await snapshot(environment)).toEqual([]);
  expect(await dashboard(org)).toMatchObject({ meta: { polledAt: null }, timeSeries: [], snapshot: [], alerts: [] });

  org.limits.DataStorageMB = { max: 100, used: 80 };
  const shown = await dashboard(org, { forceRefresh: 'true' });
  expect(shown.meta).toMatchObject({
    range: 'today',
    rangeLabel: 'Today',
    orgUsername: org.username,
    environmentName: null,
    repositoryIdentifier: null,
    cached: false,
    refreshError: null,
  });
  expect(shown.meta.start).toMatch(/T00:00:00\.000Z$/);
  const storage = {
    name: 'DataStorageMB',
    max: 100,
    used: 80,
    remaining: 20,
    usagePct: 80,
    alertLevel: 'warning',
    forecastAt: null,
    sampledAt: expect.any(String),
  };
  expect(shown.alerts).toEqual([storage]);
  expect(shown.snapshot).toHaveLength(3);
  expect(shown.snapshot).toContainEqual(storage);
  expect(shown.snapshot).toContainEqual(expect.objectContaining({ name: 'DailyScratchOrgs', max: 0, usagePct: 0 }));
  expect(shown.timeSeries.map(({ limitName }: { limitName: string }) => limitName)).toEqual([
    'DailyApiRequests',
    'DataStorageMB',
  ]);
  expect(shown.timeSeries[1].dataPoints).toEqual([{ timestamp: storage.sampledAt, usagePct: 80 }]);
  expect(await snapshot(environment)).toEqual(shown.snapshot);
  expect(await summaryOf(org)).toMatchObject({
    status: 'warning',
    lastPolledAt: storage.sampledAt,
    worstLimit: { name: 'DataStorageMB', usagePct: 80, alertLevel: 'warning', forecastAt: null },
  });
  expect(await eventsOf(org)).toEqual(['org_limit.warning DataStorageMB']);
  const [hour] = await app.sql<{ peaks: number[] }>('select peaks from org_limit_hour where org_id = ?', [orgId]);
  expect(hour?.peaks[1]).toBe(8_000);
});

test('each rise is one event, and recovery comes after two polls five points below', async () => {
  const polled = await registered();
  const { org } = polled;
  for (const used of [10, 76, 80, 92, 95, 86, 70, 69, 20]) {
    org.limits.DataStorageMB = { max: 100, used };
    await poll(polled);
  }
  expect(await eventsOf(org)).toEqual([
    'org_limit.warning DataStorageMB',
    'org_limit.critical DataStorageMB',
    'org_limit.recovered DataStorageMB',
  ]);
  const [sent] = await app.sql<{ payload: object }>(
    `select payload from webhook_delivery where event = 'org_limit.critical' and payload->>'orgUsername' = ?`,
    [org.username],
  );
  expect(sent?.payload).toEqual({
    orgUsername: org.username,
    limitName: 'DataStorageMB',
    max: 100,
    used: 92,
    remaining: 8,
    usagePct: 92,
    alertLevel: 'critical',
    previousLevel: 'warning',
    forecastAt: null,
  });
  const { items } = await owner.get(200, `/api/audit?source=crm&action=org.limits_alerted&limit=10`);
  expect(items[0].after).toEqual({ limits: [{ name: 'DataStorageMB', event: 'recovered', usagePct: 69 }] });
});

test('projects say which levels hold: the strictest, and ignored is what all ignore', async () => {
  const polled = await registered({ isNamed: false });
  const { org } = polled;
  org.limits = { A: { max: 100, used: 55 }, B: { max: 100, used: 99 }, C: { max: 100, used: 99 } };
  await addProject('acme/strict', { warning: 50, critical: 60, ignore: ['B', 'C'], overrides: { A: { warning: 56 } } });
  await addEnvironment('uat', org.username.toUpperCase(), 'acme/strict');
  await addProject('acme/lenient', { warning: 52, critical: 99.5, ignore: ['B'] });
  await addEnvironment('uat', org.username, 'acme/lenient');
  const { snapshot: limits } = await poll(polled);
  const levels = Object.fromEntries(
    limits.map((limit: { name: string; alertLevel: string }) => [limit.name, limit.alertLevel]),
  );
  expect(levels).toMatchObject({ A: 'warning', B: 'ok', C: 'warning' });
  expect(await summaryOf(org)).toMatchObject({ worstLimit: { name: 'C', usagePct: 99 } });
  expect(await eventsOf(org)).toEqual(['org_limit.warning A', 'org_limit.warning C']);
});

test.each([
  [{ warning: '60' }, 'warning'],
  [{ critical: 0 }, 'critical'],
  [{ warn: 60 }, ''],
  [{ overrides: { A: { warning: -1 } } }, 'overrides/A/warning'],
  [{ ignore: 'A' }, 'ignore'],
  [[], ''],
])('a project with the settings %j is refused', async (orgLimits, path) => {
  const { errors } = await owner.post(400, '/api/projects', {
    identifier: 'acme/refused',
    platform: 'host-a',
    configuration: { metricsAlertConfig: { orgLimits } },
  });
  const place = '#/body/configuration/metricsAlertConfig/orgLimits';
  expect(errors[0].pointer).toBe(path === '' ? place : `${place}/${path}`);
});

test('a limit that climbs has a forecast', async () => {
  const polled = await registered();
  const { org, orgId } = polled;
  await poll(polled);
  // Ten a quarter of an hour, up to the sample of now.
  await app.sql(
    `insert into org_limit_sample (tenant_id, org_id, sampled_at, used, max)
     select s.tenant_id, s.org_id, s.sampled_at - n * interval '15 minutes', array[0, 90 - 10 * n, 0], array[1000, 100, 0]
     from org_limit_sample s, generate_series(1, 8) n where s.org_id = ?`,
    [orgId],
  );
  await app.sql(`update org_limit_sample set used[2] = 90 where org_id = ? and used[2] = 50 and used[1] > 0`, [orgId]);
  org.limits.DataStorageMB = { max: 100, used: 90 };
  const polledAt = Date.now();
  const { snapshot: limits } = await poll(polled);
  const { forecastAt } = limits.find(({ name }: { name: string }) => name === 'DataStorageMB');
  expect(Date.parse(forecastAt)).toBeGreaterThan(polledAt + 8 * 60_000);
  expect(Date.parse(forecastAt)).toBeLessThan(Date.now() + 22 * 60_000);
});

test('a dashboard is kept for a minute, and a forced poll makes a new one at most once a minute', async () => {
  const { org, orgId } = await registered();
  await dashboard(org, { forceRefresh: 'true' });
  const calls = () =>
    crm.requests.filter((request) => request.org === org.name && request.path.endsWith('limits')).length;
  expect(calls()).toBe(1);
  org.limits.DataStorageMB = { max: 100, used: 60 };
  const kept = await dashboard(org);
  expect(kept.meta.cached).toBe(true);
  const again = await dashboard(org, { forceRefresh: 'true' });
  expect(calls()).toBe(1);
  expect(again.meta).toMatchObject({ cached: false, refreshError: null, polledAt: kept.meta.polledAt });
  expect(kept.snapshot[0].sampledAt).toBe(kept.meta.polledAt);
  await mayPollAgain(orgId);
  const [first, second] = await Promise.all([
    dashboard(org, { forceRefresh: 'true' }),
    dashboard(org, { forceRefresh: 'true' }),
  ]);
  expect(calls()).toBe(2);
  for (const { snapshot: limits } of [first, second])
    expect(limits).toContainEqual(expect.objectContaining({ name: 'DataStorageMB', used: 60 }));
});

test('a dashboard that is kept is the same for everybody, however they name the org and take the reply', async () => {
  const { org, orgId, environment } = await registered();
  await dashboard(org, { forceRefresh: 'true' });
  await app.sql(
    `insert into org_limit_sample (tenant_id, org_id, sampled_at, used, max)
     select tenant_id, org_id, sampled_at - n * interval '10 minutes', used, max from org_limit_sample, generate_series(1, 600) n
     where org_id = ?`,
    [orgId],
  );
  const seven = { range: 'last_7_days' };
  const made = await dashboard(org, seven);
  const named = new URLSearchParams({ environmentName: environment, repositoryIdentifier: REPOSITORY, ...seven });
  for (const _ of [1, 2]) {
    const byOrg = await dashboard(org, seven);
    expect(byOrg).toEqual({ ...made, meta: { ...made.meta, cached: true } });
    const place = { environmentName: environment, repositoryIdentifier: REPOSITORY };
    for (const encoding of ['gzip', 'identity']) {
      const { text, headers } = await owner.request(200, 'GET', `${LIMITS}/dashboard?${named}`, {
        headers: { 'accept-encoding': encoding },
      });
      expect([headers.get('content-type'), headers.get('content-encoding') ?? 'identity']).toEqual([
        'application/json; charset=utf-8',
        encoding,
      ]);
      expect(JSON.parse(text)).toEqual({ ...byOrg, meta: { ...byOrg.meta, ...place } });
    }
  }
});

test('when a forced poll fails, the last data are shown and the reply says why', async () => {
  const polled = await registered();
  const { org } = polled;
  await poll(polled);
  org.fail('html', { times: 9, path: /limits/ });
  const shown = await poll(polled);
  expect(shown.meta.refreshError).toEqual(expect.any(String));
  expect(shown.snapshot).toHaveLength(3);
  expect(await summaryOf(org)).toMatchObject({ status: 'unreachable' });
  const { health } = await owner.get(
    200,
    `/api/auth/crm/org?${new URLSearchParams({ username: org.username, authType: 'none' })}`,
  );
  expect(health.status).toBe('unreachable');
  org.heal();
  expect((await poll(polled)).meta.refreshError).toBeNull();
  expect(await summaryOf(org)).toMatchObject({ status: 'ok' });
});

test('an org whose credential died is shown so, and is not asked', async () => {
  const polled = await registered();
  const { org } = polled;
  await poll(polled);
  org.revokeApprovals();
  expect((await poll(polled)).meta.refreshError).toEqual(expect.any(String));
  const asked = crm.requests.length;
  expect((await poll(polled)).meta.refreshError).toEqual(expect.any(String));
  expect(crm.requests.length).toBe(asked);
  expect(await summaryOf(org)).toMatchObject({ status: 'auth_failed', worstLimit: { name: 'DataStorageMB' } });
  const failed = await app.sql(
    `select 1 from audit_entry where action = 'org.auth_failed' and summary like '%' || ?::text || '%'`,
    [org.username],
  );
  expect(failed).toHaveLength(1);
});

test('the summary of a repository has the orgs that it names', async () => {
  const { org } = await registered();
  const { org: other } = await registered({ isNamed: false });
  const query = `?${new URLSearchParams({ repositoryIdentifier: REPOSITORY })}`;
  expect(await summaryOf(org, query)).toBeDefined();
  expect(await summaryOf(other, query)).toBeUndefined();
  expect(await summaryOf(other)).toMatchObject({ environmentLabels: [] });
  await owner.patch(200, `/api/projects/${encodeURIComponent(REPOSITORY)}`, {
    configuration: { devHubs: [other.username] },
  });
  expect(await summaryOf(other, query)).toMatchObject({ environmentLabels: [] });
  const unknown = await owner.get(400, `${LIMITS}/summary?repositoryIdentifier=acme/none`);
  expect(unknown.errors[0].pointer).toBe('#/query/repositoryIdentifier');
});

test('what names no org is refused', async () => {
  const { environment } = await registered();
  await addEnvironment('bare');
  await addEnvironment('unregistered', 'nobody@acme.example');
  const ask = (status: number, query: Record<string, string>) =>
    owner.get(status, `${LIMITS}/dashboard?${new URLSearchParams({ range: 'today', ...query })}`);
  expect((await ask(400, {})).errors[0].pointer).toBe('#/query/org');
  expect((await ask(400, { environmentName: environment })).errors[0].pointer).toBe('#/query/repositoryIdentifier');
  await ask(400, { environmentName: environment, repositoryIdentifier: 'acme/none' });
  await ask(404, { org: "no'body\\@acme.example" });
  await ask(400, { org: 'x', range: 'last_month' });
  for (const name of ['bare', 'unregistered', 'none']) {
    await snapshot(name, REPOSITORY, 404);
    await ask(404, { environmentName: name, repositoryIdentifier: REPOSITORY });
  }
  expect(await ask(200, { environmentName: environment, repositoryIdentifier: REPOSITORY })).toMatchObject({
    meta: { environmentName: environment, repositoryIdentifier: REPOSITORY },
  });
});

test('members see the same; other tenants and tokens of other projects see nothing', async () => {
  const polled = await registered();
  const { org, environment } = polled;
  const shown = await poll(polled);
  expect(await dashboard(org, {}, app.as(app.member))).toMatchObject({ snapshot: shown.snapshot });
  await addProject('acme/other');
  const limited = app.as(
    await owner.post(201, '/api/application-tokens', { name: 'limited', projects: ['acme/other'] }),
  );
  const own = app.as(await owner.post(201, '/api/application-tokens', { name: 'own', projects: [REPOSITORY] }));
  const query = new URLSearchParams({ org: org.username, range: 'today', forceRefresh: 'true' });
  for (const stranger of [limited, app.as(app.stranger)]) {
    await stranger.get(404, `${LIMITS}/dashboard?${query}`);
    expect(JSON.stringify(await stranger.get(200, `${LIMITS}/summary`))).not.toContain(org.username);
  }
  expect(JSON.stringify(await own.get(200, `${LIMITS}/summary`))).toContain(org.username);
  const path = new URLSearchParams({ environmentName: environment, repositoryIdentifier: REPOSITORY });
  expect(await own.get(200, `${LIMITS}/snapshot?${path}`)).toEqual(shown.snapshot);
  expect((await own.get(200, `${LIMITS}/dashboard?${query}`)).snapshot).toHaveLength(3);
});

test('what is kept of an org goes with it', async () => {
  const polled = await registered();
  await poll(polled);
  await owner.delete(204, `/api/auth/crm/org?${new URLSearchParams({ username: polled.org.username })}`);
  for (const table of ['state', 'sample', 'hour'])
    expect(await app.sql(`select 1 from org_limit_${table} where org_id = ?`, [polled.orgId])).toEqual([]);
});
