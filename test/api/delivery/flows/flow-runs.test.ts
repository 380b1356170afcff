import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { cutRelease } from '../../../support/releases.ts';
import { idleEngine } from '../../../support/launch.ts';

let app: TestApp;
const repositoryIdentifier = 'acme/shop';
beforeAll(async () => {
  app = await testApp({ launch: idleEngine, commands: ['execute-release', 'build', 'run-apex-tests', 'analyze'] });
  const owner = app.as(app.owner);
  for (const identifier of [repositoryIdentifier, 'acme/other'])
    await owner.post(201, '/api/projects', { identifier, platform: 'host-a' });
  await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'uat',
    category: 'test',
    approvalPolicy: { approvers: [app.member.email] },
  });
  await cutRelease(app, repositoryIdentifier, 'r1');
});
afterAll(() => app.close());

const owner = () => app.as(app.owner);
const worker = () => app.as(app.application);
const start = async (payload: object, caller = app.owner): Promise<string> =>
  (await app.as(caller).post(202, '/api/flows/run', { payload })).id;
const list = (query: string) => owner().get(200, `/api/flows/runs?${query}`);
const set = (id: string, status: string, display: string) =>
  app.sql('update flow_run set status = ?, display_status = ?, ended_at = now() where id = ?', [status, display, id]);

test('a run is listed at once, as it was asked for', async () => {
  const workItemRef = {
    type: 'host-a-issue',
    key: '12',
    url: 'https://host-a.example/acme/shop/issues/12',
    repository: 'shop',
    organization: 'acme',
  };
  const started = await owner().post(202, '/api/flows/run', {
    payload: {
      id: 'execute-release',
      repositoryIdentifier,
      environmentName: 'uat',
      domain: 'core',
      releaseName: 'r1',
      workItemRef,
    },
  });
  expect(started).toMatchObject({ taskType: 'execute-release', status: 'started' });
  const { runs, count, totalCount, page } = await list('workItemKey=12');
  expect({ count, totalCount, page }).toEqual({ count: 1, totalCount: 1, page: 1 });
  expect(runs[0]).toMatchObject({
    id: started.id,
    projectIdentifier: repositoryIdentifier,
    status: 'Waiting',
    rawStatus: 'dispatched',
    category: 'release',
    executionMode: 'flow',
    workItemRef,
    success: null,
    durationMs: null,
    triggeredBy: app.owner.email,
  });
});

test.each([
  [{ id: 'no-such-type' }, '#/body/payload/id', 'install-packages'],
  [{}, '#/body/payload/id', 'install-packages'],
  [{ id: 'build-domain' }, '#/body/payload/id', 'is not a flow type'],
  [{ id: 'execute-release', repositoryIdentifier }, '#/body/payload/domain', ''],
  [{ id: 'build', repositoryIdentifier: 'no/such' }, '#/body/payload/repositoryIdentifier', 'not registered'],
  [
    { id: 'build', repositoryIdentifier, environmentName: 'none' },
    '#/body/payload/environmentName',
    'no environment none',
  ],
  [{ id: 'build', environmentName: 'uat' }, '#/body/payload/repositoryIdentifier', 'name it, too'],
])('what is no payload is refused: %j', async (payload, pointer, detail) => {
  const { errors } = await owner().post(400, '/api/flows/run', { payload });
  expect(errors).toContainEqual(expect.objectContaining({ pointer, detail: expect.stringContaining(detail) }));
});

test('each filter holds before counting, alone and with others', async () => {
  const own = 'acme/other';
  const build = await start({ id: 'build', repositoryIdentifier: own, flowPath: 'ci/Build_100%.yml' });
  const test1 = await start({ id: 'run-apex-tests', repositoryIdentifier: own }, app.member);
  const test2 = await start({
    id: 'run-apex-tests',
    repositoryIdentifier: own,
    workItemRef: { type: 'host-b-workitem', key: '7' },
  });
  const pipeline = await start({ id: 'analyze', repositoryIdentifier: own, pipeline: { id: 'a.yml' } });
  await app.sql(`update flow_run set domain = 'sales', release_name = 'r7', parent_id = ? where id = ?`, [
    build,
    test1,
  ]);
  await set(build, 'partial', 'Partial');
  await set(test1, 'timed_out', 'Failed');
  await set(test2, 'rejected', 'Failed');
  await app.sql(`update flow_run set created_at = '2026-01-02T23:59:59.999Z' where id = ?`, [pipeline]);
  const inOwn = `repositoryIdentifier=${encodeURIComponent(own)}`;
  const found = async (query: string) => {
    const { runs, totalCount, count, totalCountIsExact } = await list(`${inOwn}&${query}`);
    expect([totalCount, count, totalCountIsExact]).toEqual([runs.length, runs.length, true]);
    return runs.map(({ id }: Json) => id);
  };
  const member = encodeURIComponent(app.member.email);
  const newestFirst = [test2, test1, build, pipeline];
  for (const [query, ids] of [
    ['', newestFirst],
    ['status=Failed', [test2, test1]],
    ['status=Failed,Partial', [test2, test1, build]],
    ['status=timed_out', [test1]],
    ['status=rejected,Partial', [test2, build]],
    ['category=testing', [test2, test1, pipeline]],
    ['taskType=build,analyze', [build, pipeline]],
    ['executionMode=cicd', [pipeline]],
    ['flowPath=build_100%25', [build]],
    ['flowPath=b_ild', []],
    ['workItemKey=7,8', [test2]],
    ['workItemType=host-b-workitem', [test2]],
    [`triggeredBy=${member}`, [test1]],
    [`triggeredBy=${member},cron&status=Failed`, [test1]],
    ['since=24h', [test2, test1, build]],
    ['since=2026-01-01T00:00:00Z', newestFirst],
    ['date=2026-01-02', [pipeline]],
    ['date=2026-01-03', []],
    ['date=2026-01-02&since=24h', []],
    ['category=testing&status=Failed&executionMode=flow&since=7d', [test2, test1]],
    ['domain=sales', [test1]],
    ['release=r7&status=Failed', [test1]],
    [`parent=${build}`, [test1]],
    ['environment=none', []],
  ] as const) {
    expect([query, await found(query)]).toEqual([query, ids]);
  }
  for (const query of ['', '&since=24h', '&status=Failed'])
    expect((await list(`${inOwn}&counts=true&executionMode=flow${query}`)).counts).toEqual({ Failed: 2, Partial: 1 });
  const { runs, totalCount } = await list(`${inOwn}&limit=1&page=2`);
  expect([runs[0].id, totalCount]).toEqual([test1, 4]);
  const { headers } = await owner().request(200, 'GET', `/api/flows/runs?${inOwn}&limit=1&page=2`);
  expect(headers.get('link')).toMatch(/page=3.*rel="next".*page=1.*rel="prev"/);
});

test.each([
  'status=Fine',
  'limit=0',
  'limit=101',
  'page=0',
  'since=yesterday',
  'since=2026-02-30',
  'since=2026-02-29T00:00:00Z',
  'since=2026-03-02T24:00:00Z',
  'since=2026-03-02x',
  'since=9999-12-31T23:59:59-14:00',
  'date=2026-02-30',
  'category=none',
  'executionMode=x',
  'workItemType=x',
  'repositoryIdentifier=no/such',
  'colour=red',
])('a filter of unknown words is refused: %s', (query) => owner().get(400, `/api/flows/runs?${query}`));

test('counts stay exact while they are settled, and after a project is removed', async () => {
  const gone = 'acme/gone';
  await owner().post(201, '/api/projects', { identifier: gone, platform: 'host-a' });
  const { totalCount: before } = await list('');
  const ids = await Promise.all(Array.from({ length: 5 }, () => start({ id: 'build', repositoryIdentifier: gone })));
  await set(ids[0] as string, 'succeeded', 'Completed');
  await app.sql('select settle_flow_run_tally()');
  await set(ids[1] as string, 'succeeded', 'Completed');
  expect((await list(`repositoryIdentifier=${gone}&status=Completed`)).totalCount).toBe(2);
  await app.sql('select settle_flow_run_tally()');
  expect((await list(`repositoryIdentifier=${gone}&status=Completed`)).totalCount).toBe(2);
  expect((await list('')).totalCount).toBe(before + 5);
  await owner().delete(204, `/api/projects/${encodeURIComponent(gone)}`);
  expect((await list('')).totalCount).toBe(before);
});

test('a run is repeated once it is over, and says of which it is the repetition', async () => {
  const id = await start({ id: 'build', repositoryIdentifier, note: 'kept' });
  await owner().post(409, `/api/flows/runs/${id}/rerun`);
  await set(id, 'failed', 'Failed');
  const again = await owner().post(202, `/api/flows/runs/${id}/rerun`);
  expect(await owner().get(200, `/api/flows/runs/${again.id}`)).toMatchObject({
    rerunOfExecutionId: id,
    rerunType: 'rerun',
    payload: { id: 'build', note: 'kept' },
  });
  await owner().post(409, `/api/flows/runs/${id}/cancel`);
});

test('a run is repeated with another payload of the same type and place', async () => {
  const id = await start({ id: 'build', repositoryIdentifier, domain: 'core', note: 'before' });
  await set(id, 'failed', 'Failed');
  const rerun = (status: number, payload: object) => owner().post(status, `/api/flows/runs/${id}/rerun`, { payload });
  const again = await rerun(202, { id: 'build', repositoryIdentifier, domain: 'core', note: 'after' });
  expect(await owner().get(200, `/api/flows/runs/${again.id}`)).toMatchObject({
    rerunOfExecutionId: id,
    payload: { note: 'after' },
  });
  for (const [name, value] of Object.entries({ id: 'analyze', repositoryIdentifier: 'acme/other', domain: 'ui' })) {
    const { errors } = await rerun(400, { id: 'build', repositoryIdentifier, domain: 'core', [name]: value });
    expect(errors).toMatchObject([{ pointer: `#/body/payload/${name}` }]);
  }
});

test('another attempt of a child is for the release of its parent', async () => {
  const parent = await start({ id: 'build', repositoryIdentifier });
  const payload = { id: 'build', repositoryIdentifier, domain: 'core', releaseName: 'r1' };
  const child = await start(payload);
  await app.sql('update flow_run set parent_id = ? where id = ?', [parent, child]);
  await set(child, 'failed', 'Failed');
  const other = { ...payload, releaseName: 'r2' };
  const refused = await owner().post(400, `/api/flows/runs/${child}/rerun`, { payload: other });
  expect(refused.errors).toMatchObject([{ pointer: '#/body/payload/releaseName' }]);
});

test('who retimes a schedule or lets it go on answers for its runs, who pauses it does not', async () => {
  const schedule = { name: 'answered', cron: '0 3 * * *', payload: { id: 'build', repositoryIdentifier } };
  const { id } = await app.as(app.application).post(201, '/api/flows/schedules', schedule);
  const people = async () => {
    const [row] = await app.sql<{ ids: string[] }>('select people_ids as ids from flow_schedule where id = ?', [id]);
    return row?.ids;
  };
  await app.sql(`update flow_schedule set people_ids = '{}' where id = ?`, [id]);
  await owner().patch(200, `/api/flows/schedules/${id}`, { isPaused: true });
  expect(await people()).toEqual([]);
  await owner().patch(200, `/api/flows/schedules/${id}`, { isPaused: false });
  const { id: ownerId } = await owner().get(200, '/api/users/me');
  expect(await people()).toEqual([ownerId]);
  await owner().delete(204, `/api/flows/schedules/${id}`);
});

test('scheduled and internal runs are listed when they are asked for', async () => {
  const register = {
    hatchetRunId: 'h-1',
    taskType: 'nightly',
    flowPath: 'nightly.yml',
    repositoryIdentifier,
    schedulePath: 'schedules/nightly',
  };
  const { executionId } = await worker().post(201, '/api/flows/internal/register-scheduled', register);
  expect((await worker().post(200, '/api/flows/internal/register-scheduled', register)).executionId).toBe(executionId);
  const child = {
    parentTaskExecutionId: await start({ id: 'build', repositoryIdentifier, environmentName: 'uat' }),
    taskType: 'build-domain',
    flowPath: 'nightly.yml',
    repositoryIdentifier,
  };
  const registered = await worker().post(201, '/api/flows/internal/register-child', child);
  expect(registered.approvalControls).toEqual({ skipApproval: false, approvers: [app.member.email] });
  await expect(worker().post(200, '/api/flows/internal/register-child', child)).resolves.toEqual(registered);
  const byPath = async (query: string) => (await list(`flowPath=nightly${query}`)).runs.map(({ id }: Json) => id);
  expect(await byPath('')).toEqual([]);
  expect(await byPath('&includeScheduled=true')).toEqual([executionId]);
  expect(await byPath('&includeInternal=true')).toEqual([registered.executionId]);
  expect((await list('flowPath=nightly&includeScheduled=true')).runs[0]).toMatchObject({
    triggeredBy: 'cron',
    status: 'Running',
    category: 'scheduled',
  });
});

test('workers of another tenant reach nothing', async () => {
  const parentTaskExecutionId = await start({ id: 'build', repositoryIdentifier });
  const stranger = app.as(app.strangerApplication);
  await app.as(app.stranger).post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  await stranger.post(404, '/api/flows/internal/register-child', {
    parentTaskExecutionId,
    taskType: 'build-domain',
    flowPath: 'x',
    repositoryIdentifier,
  });
  await stranger.patch(404, `/api/flows/internal/${parentTaskExecutionId}/metadata`, { result: {} });
  await stranger.post(404, `/api/flows/internal/${parentTaskExecutionId}/callback`, { event: 'completed' });
  await stranger.post(400, '/api/flows/internal/track-lock-run', { executionId: parentTaskExecutionId, lockKey: 'a' });
});

test('a callback for an unknown run is refused, and one for a run that is over changes nothing', async () => {
  const callback = (id: string, status: number) =>
    worker().post(status, `/api/flows/internal/${id}/callback`, { event: 'completed', result: { late: true } });
  await callback('0195a3c2-0000-7a11-8a52-00000000ffff', 404);
  await callback('not-an-id', 404);
  const id = await start({ id: 'build', repositoryIdentifier });
  await set(id, 'failed', 'Failed');
  await callback(id, 204);
  expect(await owner().get(200, `/api/flows/runs/${id}`)).toMatchObject({ rawStatus: 'failed', result: {} });
});

test('results merge at any depth, up to their limit', async () => {
  const id = await start({ id: 'build', repositoryIdentifier });
  const merge = (result: object, status = 204) =>
    worker().patch(status, `/api/flows/internal/${id}/metadata`, { result });
  await merge({ a: { b: 1, c: [1, 2] }, d: 'x' });
  await Promise.all([merge({ a: { e: 2 } }), merge({ a: { c: [3] }, d: null })]);
  expect((await owner().get(200, `/api/flows/runs/${id}`)).result).toEqual({ a: { b: 1, c: [3], e: 2 } });
  await merge({ big: 'x'.repeat(1_048_576) }, 413);
});

test('the outcome of children is derived anew after a repetition, and a lock that is tracked is shown', async () => {
  const { executionId: parent } = await worker().post(201, '/api/flows/internal/register-scheduled', {
    hatchetRunId: 'h-2',
    taskType: 'nightly',
    flowPath: 'n',
    repositoryIdentifier,
    schedulePath: 's',
  });
  const child = (domainName: string) =>
    worker().post(201, '/api/flows/internal/register-child', {
      parentTaskExecutionId: parent,
      taskType: 'validate-domain',
      flowPath: 'v',
      repositoryIdentifier,
      domainName,
    });
  const report = (id: string, domainName: string, status: string) =>
    worker().post(204, `/api/flows/internal/${parent}/reconcile-check`, {
      reportingExecutionId: id,
      domainName,
      status,
    });
  const statusOf = async () => (await owner().get(200, `/api/flows/runs/${parent}`)).status;
  const [core, sales] = [await child('core'), await child('sales')];
  await report(core.executionId, 'core', 'Failed');
  expect(await statusOf()).toBe('Running');
  await report(sales.executionId, 'sales', 'succeeded');
  expect(await statusOf()).toBe('Partial');
  const again = await child('core');
  await report(again.executionId, 'core', 'succeeded');
  await worker().post(204, `/api/flows/internal/${parent}/reconcile-build-check`);
  expect(await statusOf()).toBe('Completed');
  const lock = { executionId: parent, lockKey: 'acme/shop/uat', ticketId: 't-1' };
  for (let time = 0; time < 2; time++) await worker().post(204, '/api/flows/internal/track-lock-run', lock);
  expect((await owner().get(200, `/api/flows/runs/${parent}`)).locks).toEqual([
    { lockKey: 'acme/shop/uat', ticketId: 't-1', runId: null },
  ]);
  await worker().post(404, `/api/flows/internal/${core.executionId}/reconcile-check`, {
    reportingExecutionId: parent,
    domainName: 'core',
    status: 'failed',
  });
});

test('schedules have names of their own and times that exist', async () => {
  const schedule = {
    name: 'nightly',
    cron: '0 3 * * *',
    timezone: 'Europe/Berlin',
    payload: { id: 'build', repositoryIdentifier },
  };
  const made = await owner().post(201, '/api/flows/schedules', schedule);
  expect(made).toMatchObject({
    name: 'nightly',
    taskType: 'build',
    repositoryIdentifier,
    lastRefusal: null,
    nextRunAt: expect.stringMatching(/T0[12]:00:00\.000Z$/),
  });
  await owner().post(409, '/api/flows/schedules', schedule);
  for (const wrong of [
    { cron: '* * * *' },
    { cron: '61 * * * *' },
    { cron: '@daily' },
    { timezone: 'Moon/Base' },
    { payload: { id: 'none' } },
  ]) {
    await owner().post(400, '/api/flows/schedules', { ...schedule, name: 'other', ...wrong });
  }
  const unavailable = { id: 'install-changeset', orgUsername: 'admin@acme.example' };
  const refused = await owner().post(409, '/api/flows/schedules', { ...schedule, name: 'other', payload: unavailable });
  expect(refused).toMatchObject({ code: 'flow_unavailable', detail: expect.stringContaining('COMMANDS_FILE') });
  const path = `/api/flows/schedules/${made.id}`;
  const paused = await owner().patch(200, path, { isPaused: true });
  expect(paused).toMatchObject({ isPaused: true, nextRunAt: null, cron: '0 3 * * *' });
  expect(await owner().patch(200, path, { isPaused: false, cron: '30 4 * * *', timezone: 'UTC' })).toMatchObject({
    nextRunAt: expect.stringMatching(/T04:30:00\.000Z$/),
  });
  const payload = { id: 'build', repositoryIdentifier: 'acme/other' };
  expect(await owner().patch(200, path, { payload })).toMatchObject({ repositoryIdentifier: 'acme/other', payload });
  await owner().patch(400, path, { cron: '@daily' });
  await owner().patch(400, path, { name: 'weekly' });
  await owner().patch(409, path, { payload: unavailable });
  await app.as(app.member).patch(403, path, { isPaused: true });
  await app.as(app.stranger).patch(404, path, { isPaused: true });
  await owner().delete(204, `/api/flows/schedules/${made.id}`);
  await owner().delete(404, `/api/flows/schedules/${made.id}`);
  expect(await owner().get(200, '/api/flows/schedules')).toEqual([]);
});

test('types say what executes them, or why nothing does', async () => {
  const types = await owner().get(200, '/api/flows/types');
  const typeOf = (name: string) => types.find(({ id }: Json) => id === name);
  expect(typeOf('create-patch-branch')).toMatchObject({
    available: true,
    executor: 'activity',
    payloadSchema: { required: expect.arrayContaining(['newBranch', 'sourceRef']) },
  });
  expect(typeOf('install-changeset')).toMatchObject({
    available: false,
    executor: 'activity',
    reason: expect.stringContaining('install-changeset'),
    gates: { approval: true, lock: true },
  });
});
