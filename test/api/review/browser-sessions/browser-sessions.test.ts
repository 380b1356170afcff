import { type TestApp, testApp } from '../../../support/app.ts';
import { addHost, SESSIONS_PATH as PATH, type SessionStage, sessionStage } from '../../../support/browser-sessions.ts';
import type { Json } from '../../../support/client.ts';
import { engineAway } from '../../../support/launch.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';

let app: TestApp;
let stage: SessionStage;
beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  stage = await sessionStage(app);
});
afterAll(() => app.close());

const owner = () => app.as(app.owner);
const member = () => app.as(app.member);
const application = () => app.as(app.application);
const withHost = async () => {
  const [host] = await app.sql('select id from browser_host limit 1');
  if (!host) await addHost(app, { id: newId(), queue: `host-${newId()}` });
};
/** A session of an external worker. */
const external = async (): Promise<{ id: string; prNumber: number; repositoryIdentifier: string }> => {
  const other = await sessionStage(app);
  await owner().patch(200, `/api/projects/${encodeURIComponent(other.repositoryIdentifier)}`, {
    configuration: { recordPipeline: { id: 'record.yml' } },
  });
  const prNumber = await other.pullRequest();
  const session = await other.record(prNumber);
  expect(session).toMatchObject({ provider: 'external', status: 'provisioning', liveViewUrl: null });
  return { id: session.id, prNumber, repositoryIdentifier: other.repositoryIdentifier };
};
const report = (id: string, body: object, status = 200): Promise<Json> =>
  application().patch(status, `${PATH}/${id}`, body);

test('without a host, an integration or a worker outside nothing is allocated, and why is said', async () => {
  const number = await stage.pullRequest();
  const refused = await stage.record(number, {}, 409);
  expect(refused).toMatchObject({ code: 'flow_unavailable' });
  expect(refused.detail).toContain('npm run start:browser-host');
  const types: Json[] = await member().get(200, '/api/flows/types');
  expect(types.find(({ id }) => id === 'record-session')).toMatchObject({ available: false, reason: refused.detail });
  const { repositoryIdentifier } = stage;
  const payload = { id: 'record-session', repositoryIdentifier, prNumber: number };
  await owner().post(409, '/api/flows/run', { payload });
  const providers = await member().get(200, `${PATH}/providers`);
  expect(providers).toMatchObject({ provider: null, reason: refused.detail, local: { hosts: 0, places: 0 } });
  await addHost(app, { id: newId(), queue: 'host-ffmpeg', trouble: 'There is no ffmpeg: nothing is recorded' });
  await expect(member().get(200, `${PATH}/providers`)).resolves.toMatchObject({
    provider: 'local',
    local: { isolation: 'jailed', places: 4, records: false, trouble: 'There is no ffmpeg: nothing is recorded' },
  });
  await owner().post(201, '/api/integrations', {
    kind: 'browser',
    name: 'browserbase',
    repositoryIdentifier,
    credentials: { type: 'token', token: 'bb_key' },
  });
  const query = `repositoryIdentifier=${encodeURIComponent(repositoryIdentifier)}`;
  await expect(member().get(200, `${PATH}/providers?${query}`)).resolves.toMatchObject({ provider: 'browserbase' });
  await expect(stage.record(number)).resolves.toMatchObject({ provider: 'browserbase', status: 'provisioning' });
});

test('a pull request without an active assignment: 404 that says so; unknown repositories and paths elsewhere: 400', async () => {
  const missing = await stage.record(9_999, {}, 404);
  expect(missing.detail).toContain('Pull request 9999');
  expect(missing.detail).toContain('no active review assignment');
  await owner().post(400, `${PATH}/record-for-pr`, { repositoryIdentifier: 'acme/unknown', prNumber: 1 });
  await withHost();
  const number = await stage.pullRequest();
  for (const wrong of [
    { startPath: '//evil.example' },
    { minutes: 0 },
    { minutes: 61 },
    { allowedHosts: ['10.0.0.1'] },
    { allowedHosts: ['fd00::1'] },
    { allowedHosts: ['127.1'] },
    { allowedHosts: ['*'] },
    { viewport: { width: 10, height: 10 } },
  ])
    await stage.record(number, wrong, 400);
});

test('an environment allocates its org: for owners and applications, with its own hosts and wish for recordings', async () => {
  await withHost();
  const { repositoryIdentifier } = await sessionStage(app);
  const add = (name: string, more: object) =>
    owner().post(201, '/api/environments', { repositoryIdentifier, name, category: 'test', ...more });
  const { id } = await add('lent', {
    orgUsername: 'lent@acme.example.com',
    browser: { allowedHosts: ['*.crm.example.com'], recording: false },
  });
  const { id: bare } = await add('bare', {});
  const path = `/api/environments/${id}/browser/record`;
  await member().post(403, path, {});
  await owner().post(400, `/api/environments/${bare}/browser/record`, {});
  await app.as(app.stranger).post(404, path, {});
  const inner = { browser: { allowedHosts: ['crm', '10.0.0.1'] } };
  const { errors } = await owner().patch(400, `/api/environments/${id}`, { ...inner, version: 1 });
  expect(errors).toMatchObject([{ pointer: '#/body/browser/allowedHosts/1' }]);
  const session = await application().post(202, path, { allowedHosts: ['help.example.com', '127.0.0.1', 'localhost'] });
  expect(session).toMatchObject({ environmentId: id, prNumber: null, provider: 'local', createdBy: 'app:ci' });
  const [row] = await app.sql<Json>('select allowed_hosts, is_recorded from browser_session where id = ?', [
    session.id,
  ]);
  expect(row).toEqual({
    allowed_hosts: ['*.crm.example.com', 'help.example.com', '127.0.0.1', 'localhost'],
    is_recorded: false,
  });
  const run = await stage.run(session.flowRunId);
  expect(run).toMatchObject({
    taskType: 'record-session',
    payload: { sessionId: session.id, environmentName: 'lent' },
  });
  const found = await member().get(200, `${PATH}?environmentId=${id}&status=provisioning,live&limit=1`);
  expect(found).toMatchObject({ total: 1, limit: 1, offset: 0, items: [{ id: session.id }] });
  await member().get(400, `${PATH}?status=lively`);
  await member().get(200, `${PATH}?limit=200`);
  await member().get(400, `${PATH}?limit=201`);
});

test.each([
  [false, true],
  [true, false],
])('the wish of a request goes before that of its environment: %p, then %p', async (ofEnvironment, ofRequest) => {
  await withHost();
  const { repositoryIdentifier } = await sessionStage(app);
  const { id } = await owner().post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'lent',
    category: 'test',
    orgUsername: 'lent@acme.example.com',
    browser: { recording: ofEnvironment },
  });
  const isRecorded = async (body: object): Promise<boolean | undefined> => {
    const session = await owner().post(202, `/api/environments/${id}/browser/record`, body);
    const [row] = await app.sql<Json>('select is_recorded from browser_session where id = ?', [session.id]);
    return row?.is_recorded;
  };
  await expect(isRecorded({})).resolves.toBe(ofEnvironment);
  await expect(isRecorded({ recording: ofRequest })).resolves.toBe(ofRequest);
});

test('the timeline has the newest 100 events', async () => {
  const { id } = await external();
  await app.sql(
    `insert into browser_session_event (tenant_id, session_id, project_id, occurred_at, kind, summary, by_email)
     select tenant_id, id, project_id, now(), 'noted', g.n::text, 'someone@example.com'
     from browser_session, generate_series(1, 101) as g (n) where id = ? order by g.n`,
    [id],
  );
  const { timeline } = await member().get(200, `${PATH}/${id}`);
  expect(timeline.map(({ summary }: Json) => summary)).toEqual(Array.from({ length: 100 }, (_, n) => `${101 - n}`));
});

test('a worker outside reports by the state table; its address is shown as given', async () => {
  const { id } = await external();
  await report(id, { status: 'expired' }, 409);
  const seen = { providerSessionId: 'b7', liveViewUrl: 'http://browsers.example/b7?x=1' };
  await expect(report(id, { status: 'live', ...seen })).resolves.toMatchObject({ status: 'live', ...seen });
  await expect(report(id, { status: 'live' })).resolves.toMatchObject({ status: 'live' });
  await report(id, { status: 'provisioning' }, 409);
  await report(id, { liveViewUrl: 'javascript:alert(1)' }, 400);
  await expect(report(id, { status: 'error', statusReason: 'host_lost' })).resolves.toMatchObject({
    status: 'error',
    statusReason: 'host_lost',
  });
  await expect(report(id, { status: 'error' })).resolves.toMatchObject({ status: 'error' });
  await report(id, { status: 'live' }, 409);
  await owner().patch(403, `${PATH}/${id}`, { status: 'live' });
  await app.as(app.strangerApplication).patch(404, `${PATH}/${id}`, { status: 'live' });
});

test('with the engine away sessions are stopped, extended and deleted; who may not is refused', async () => {
  const { id } = await external();
  await member().post(403, `${PATH}/${id}/stop`);
  await member().delete(403, `${PATH}/${id}`);
  await owner().post(409, `${PATH}/${id}/extend`, { minutes: 5 });
  await report(id, { status: 'live' });
  for (const minutes of [0, 61]) await owner().post(400, `${PATH}/${id}/extend`, { minutes });
  await owner().post(200, `${PATH}/${id}/extend`, { minutes: 60 });
  const capped = await owner().post(409, `${PATH}/${id}/extend`, { minutes: 1 });
  expect(capped.detail).toContain('60 minutes after it was created');
  await expect(owner().post(200, `${PATH}/${id}/stop`)).resolves.toMatchObject({ status: 'ended' });
  await owner().delete(204, `${PATH}/${id}`);
  await member().get(404, `${PATH}/${id}`);
  const trail = await app.sql<{ action: string }>(
    `select action from audit_entry where entity_id = ? and source = 'browser' order by sequence`,
    [id],
  );
  expect(trail.map(({ action }) => action)).toEqual(
    ['created', 'live', 'extended', 'ended', 'deleted'].map((action) => `browser_session.${action}`),
  );
});

test('a token of another project sees and changes nothing', async () => {
  const { id, prNumber, repositoryIdentifier } = await external();
  const { token } = await owner().post(201, '/api/application-tokens', {
    name: 'elsewhere',
    projects: [stage.repositoryIdentifier],
  });
  const limited = app.as({ token });
  await limited.get(404, `${PATH}/${id}`);
  await limited.patch(404, `${PATH}/${id}`, { status: 'live' });
  await limited.post(404, `${PATH}/${id}/stop`);
  await limited.delete(404, `${PATH}/${id}`);
  await limited.post(400, `${PATH}/record-for-pr`, { repositoryIdentifier, prNumber });
  const environment = { repositoryIdentifier, name: 'lent', category: 'test', orgUsername: 'lent@acme.example.com' };
  const { id: environmentId } = await owner().post(201, '/api/environments', environment);
  await limited.post(404, `/api/environments/${environmentId}/browser/record`, {});
  const { items } = await limited.get(200, PATH);
  expect(items.map((session: Json) => session.id)).not.toContain(id);
});

test('two requests for one pull request at once are one session', async () => {
  await withHost();
  const fresh = await sessionStage(app);
  const prNumber = await fresh.pullRequest();
  const { repositoryIdentifier } = fresh;
  const replies = await Promise.all(
    [1, 2, 3].map(() => owner().send('POST', `${PATH}/record-for-pr`, { body: { repositoryIdentifier, prNumber } })),
  );
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 202]);
  const { total } = await owner().get(200, `${PATH}?repositoryIdentifier=${encodeURIComponent(repositoryIdentifier)}`);
  expect(total).toBe(1);
});
