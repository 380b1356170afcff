import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';

const PLATFORMS = ['host-a', 'host-b', 'host-c'] as const;
const REPOSITORY = { 'host-a': 'acme/shop', 'host-b': 'acme/sales/shop', 'host-c': 'group/sub/shop' };
const COMMIT = '9fceb02d0ae598e95dc970b74767f19372d61af8';

let app: TestApp;
let worker: TestWorker;
const hosts = new Map<string, GitHostSimulator>();
const host = (platform: string): GitHostSimulator => hosts.get(platform) as GitHostSimulator;

beforeAll(async () => {
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8' } });
  worker = await startWorker(app, ['flows-v1']);
  const owner = app.as(app.owner);
  for (const platform of PLATFORMS) {
    const simulator = await gitHost(platform);
    hosts.set(platform, simulator);
    await owner.post(201, '/api/integrations', {
      kind: platform,
      name: platform,
      baseUrl: simulator.url,
      credentials: hostCredentials,
    });
    await owner.post(201, '/api/projects', { identifier: REPOSITORY[platform], platform });
  }
});
afterAll(async () => {
  await worker.stop();
  for (const simulator of hosts.values()) await simulator.close();
  await app.close();
});

const start = async (platform: (typeof PLATFORMS)[number], more: object = {}): Promise<string> =>
  (
    await app.as(app.owner).post(202, '/api/flows/run', {
      payload: {
        id: 'build',
        repositoryIdentifier: REPOSITORY[platform],
        commitId: COMMIT,
        prNumber: 7,
        pipeline: { id: '12', ref: 'main', inputs: { target: 'uat' } },
        ...more,
      },
    })
  ).id;
const shown = (id: string): Promise<Json> => app.as(app.owner).get(200, `/api/flows/runs/${id}`);
const ended = (id: string): Promise<Json> =>
  eventually(
    () => shown(id),
    ({ success }) => success !== null,
  );
const dispatched = (id: string): Promise<Json> =>
  eventually(
    () => shown(id),
    ({ cicdRunUrl }) => cicdRunUrl !== null,
  );
const callback = (id: string, body: object, status = 204) =>
  app.as(app.application).post(status, `/api/flows/internal/${id}/callback`, body);

test.each(PLATFORMS)(
  'on %s a pipeline is dispatched with the run as an input, and ends the run by its callback',
  async (platform) => {
    const id = await start(platform);
    expect(await dispatched(id)).toMatchObject({
      status: 'Running',
      executionMode: 'cicd',
      cicdRunUrl: expect.stringContaining(`https://${platform}.example/`),
    });
    const order = host(platform).requests.find(
      ({ method, body }) => method === 'POST' && JSON.stringify(body).includes(id),
    );
    expect(JSON.stringify(order?.body)).toContain('uat');
    await callback(id, { event: 'started' });
    await callback(id, { event: 'completed', result: { packages: { app: '1.2.3' } } });
    expect(await ended(id)).toMatchObject({ status: 'Completed', result: { packages: { app: '1.2.3' } } });
    await callback(id, { event: 'failed', error: 'late' });
    expect(await shown(id)).toMatchObject({ status: 'Completed' });
  },
);

test.each(PLATFORMS)('on %s the pipeline of a run that is cancelled is ended there, too', async (platform) => {
  const id = await start(platform);
  const pipelineId = (await dispatched(id)).cicdRunUrl.match(/\d+$/)[0];
  await app.as(app.owner).post(200, `/api/flows/runs/${id}/cancel`);
  expect(await ended(id)).toMatchObject({ status: 'Cancelled', success: { error: null } });
  expect(host(platform).ended.get(pipelineId)).toMatch(/^cancell?ed$/);
});

test('a run whose pipeline cannot be ended is cancelled all the same, and says so', async () => {
  const id = await start('host-a');
  await dispatched(id);
  host('host-a').failNext({ status: 403, body: { message: 'Resource not accessible' } });
  await app.as(app.owner).post(200, `/api/flows/runs/${id}/cancel`);
  expect(await ended(id)).toMatchObject({
    status: 'Cancelled',
    success: { error: 'The pipeline may still run: host-a answered 403: Resource not accessible' },
  });
});

test('what a host refuses fails the run and says why', async () => {
  host('host-a').failNext({ status: 422, body: { message: 'Workflow does not have workflow_dispatch trigger' } });
  expect(await ended(await start('host-a'))).toMatchObject({
    status: 'Failed',
    success: { error: 'host-a answered 422: Workflow does not have workflow_dispatch trigger' },
  });
});

test('a host that is busy is asked again; one whose answer is lost is not, for the pipeline may run', async () => {
  host('host-c').failNext({ status: 503 });
  await dispatched(await start('host-c'));
  host('host-b').failNext({ status: 502 });
  const id = await start('host-b');
  await eventually(
    () => shown(id),
    ({ status }) => status === 'Running',
  );
  await callback(id, { event: 'failed', error: 'tests are red' });
  expect(await ended(id)).toMatchObject({ status: 'Failed', cicdRunUrl: null, success: { error: 'tests are red' } });
  expect(host('host-b').requests.filter(({ body }) => JSON.stringify(body).includes(id))).toHaveLength(1);
});

test('without a credential for the host a run fails at once', async () => {
  const owner = app.as(app.owner);
  const [integration] =
    (await owner.get(200, '/api/integrations?kind=host-b')).items ??
    (await owner.get(200, '/api/integrations?kind=host-b'));
  await owner.patch(200, `/api/integrations/${integration.id}`, { isActive: false });
  expect(await ended(await start('host-b'))).toMatchObject({
    status: 'Failed',
    startedAt: null,
    success: { error: expect.stringContaining('host-b') },
  });
  await owner.patch(200, `/api/integrations/${integration.id}`, { isActive: true });
});

test.each(PLATFORMS)(
  'on %s children that are all reported end the run, and are seen on commit and pull request',
  async (platform) => {
    const id = await start(platform);
    await dispatched(id);
    const reporter = app.as(app.application);
    const register = async (domainName: string, status = 201) =>
      (
        await reporter.post(status, '/api/flows/internal/register-child', {
          parentTaskExecutionId: id,
          taskType: 'build-domain',
          flowPath: 'build',
          repositoryIdentifier: REPOSITORY[platform],
          domainName,
        })
      ).executionId;
    const report = (reportingExecutionId: string, domainName: string, status: string) =>
      reporter.post(204, `/api/flows/internal/${id}/reconcile-check`, { reportingExecutionId, domainName, status });
    const [core, sales] = [await register('core'), await register('sales')];
    expect(await register('core', 200)).toBe(core);
    host(platform).requests.length = 0;
    await report(core, 'core', 'failed');
    expect(await shown(id)).toMatchObject({ status: 'Running' });
    const again = await register('core');
    expect(again).not.toBe(core);
    await report(sales, 'sales', 'succeeded');
    await report(again, 'core', 'succeeded');
    await report(again, 'core', 'succeeded');
    expect(await ended(id)).toMatchObject({ status: 'Completed' });
    await eventually(
      async () =>
        app.sql('select 1 from flow_check where run_id = ? and written_revision = revision and error is null', [id]),
      (rows) => rows.length === 2,
    );
    const written = host(platform).requests.filter(({ method }) => method !== 'GET');
    expect(written.some(({ path }) => path.includes(COMMIT))).toBe(true);
    expect(written.some(({ body }) => JSON.stringify(body).includes('quayside: passed'))).toBe(true);
  },
);
