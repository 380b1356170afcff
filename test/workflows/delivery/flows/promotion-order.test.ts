import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { cutRelease, success } from '../../../support/releases.ts';
import { tracedRuns } from '../../../support/traced-runs.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const QUEUES = ['flows-v1', 'commands-v1', 'environment-locks-v1', 'approvals-v1', 'releases-v1'];

let app: TestApp;
const runs = tracedRuns(() => app, {
  'execute-release': 'case "$1" in fails) exit 1;; slow) sleep 4;; esac',
  'install-artifacts': 'true',
  'request-sandbox-refresh': 'true',
});
const { repositoryIdentifier, shown, reached } = runs;
let worker: TestWorker;
const environments: Record<string, string> = {};

beforeAll(async () => {
  app = await testApp({ env: { COMMANDS_FILE: runs.commandsFile } });
  worker = await startWorker(app, QUEUES);
  const owner = app.as(app.owner);
  for (const identifier of [repositoryIdentifier, 'acme/other'])
    await owner.post(201, '/api/projects', {
      identifier,
      platform: 'host-a',
      configuration: { approvalPolicy: { skipApproval: true } },
    });
  for (const [name, more] of [
    ['int', { category: 'test', branch: 'main' }],
    ['uat', { orchestrationOrder: 1 }],
    ['beside', { orchestrationOrder: 1, promotion: { after: ['uat'] } }],
    ['prod', { orchestrationOrder: 2, promotion: { after: ['int', 'uat'] } }],
    ['late', { orchestrationOrder: 3, promotion: { after: ['uat'] } }],
    ['their-int', { repositoryIdentifier: 'acme/other' }],
    ['their-prod', { repositoryIdentifier: 'acme/other', orgUsername: 'prod@their.example' }],
  ] as const) {
    const environment = { repositoryIdentifier, name, category: 'release', ...more };
    environments[name] = (await owner.post(201, '/api/environments', environment)).id;
  }
  await owner.patch(200, `/api/environments/${environments['their-prod']}`, { promotion: { after: ['their-int'] } });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  runs.remove();
});

const deployed = (releaseName: string, environmentName: string, more: object = {}): Promise<Json> =>
  app
    .as(app.application)
    .post(
      200,
      '/api/release-candidates/release-event',
      success(repositoryIdentifier, releaseName, environmentName, more),
    );
/** The child of a run for an environment, as soon as there is one. */
const childFor = (id: string, environmentName: string): Promise<Json> =>
  eventually(
    async () => {
      const { children } = await shown(id);
      const all: Json[] = await Promise.all(children.map((child: Json) => shown(child.id)));
      return all.find((child) => child.environmentName === environmentName);
    },
    (child) => child !== undefined,
  );
const ended = (id: string): Promise<Json> =>
  eventually(
    () => shown(id),
    ({ endedAt }) => endedAt !== null,
  );

test('a release is requested for an environment after one where it is deployed and one of the same request', async () => {
  const { id, note } = await runs.start({ id: 'execute-release', environmentName: 'int' });
  await reached(id, 'succeeded');
  const environmentNames = ['uat', 'prod'];
  const requested = await runs.start({ id: 'request-release', releaseName: note, environmentNames });
  expect((await reached(requested.id, 'succeeded')).children).toHaveLength(2);
});

test('a release that waits for a deployment beside it ends when that fails', async () => {
  const request = { id: 'request-release', note: 'fails', environmentNames: ['uat', 'beside'] };
  const { id } = await runs.start(request);
  expect(await ended(id)).toMatchObject({ rawStatus: 'failed' });
  const waited = await childFor(id, 'beside');
  expect(waited).toMatchObject({ rawStatus: 'failed', startedAt: null });
  expect(waited.success.error).toMatch(/not deployed to uat, and no other part of the same run deploys it there/);
});

test('likewise when the run before it completes, and its deployment was reported as failed', async () => {
  const { id, note } = await runs.start({ id: 'request-release', note: 'slow', environmentNames: ['uat', 'late'] });
  const uat = await childFor(id, 'uat');
  await reached(uat.id, 'running');
  const releaseName = (await shown(uat.id)).releaseName ?? note;
  await deployed(releaseName, 'uat', { deploymentStatus: 'Failed', executionId: uat.id });
  expect(await ended(id)).toMatchObject({ rawStatus: 'partial' });
  expect((await childFor(id, 'late')).success.error).toMatch(/not deployed to uat/);
});

test('a release that a failed verification holds ends when it is not deployed again where that failed', async () => {
  const releaseName = 'unverified';
  await cutRelease(app, repositoryIdentifier, releaseName);
  await deployed(releaseName, 'uat');
  await app.sql(
    `update release_candidate set holds = jsonb_build_array(jsonb_build_object('reason', 'smoke', 'until', null, 'by', 'service',
      'since', '2026-01-01T00:00:00.000Z', 'verification',
      jsonb_build_object('environmentId', ?::text, 'contentDigest', content_digest))) where release_name = ?`,
    [environments.uat, releaseName],
  );
  const request = { id: 'request-release', releaseName, note: 'fails', environmentNames: ['uat', 'beside'] };
  const { id } = await runs.start(request);
  expect(await ended(id)).toMatchObject({ rawStatus: 'failed' });
  const waited = await childFor(id, 'beside');
  expect(waited).toMatchObject({ rawStatus: 'failed', startedAt: null });
  expect(waited.success.error).toMatch(/its verification in uat failed: smoke, and no other part of the same run/);
});

test('a child is repeated only where its environment takes the release by then, once its parent has ended', async () => {
  const request = { id: 'request-release', note: 'fails', environmentNames: ['uat', 'beside'] };
  const { id } = await runs.start(request);
  await ended(id);
  const { id: childId } = await childFor(id, 'beside');
  const refused = await app.as(app.owner).post(409, `/api/flows/runs/${childId}/rerun`);
  expect(refused.detail).toMatch(/not deployed to uat/);
});

test('what an environment of another project demands before is not asked of a release that goes to its org', async () => {
  const { id } = await runs.start({ id: 'execute-release', orgUsername: 'prod@their.example' });
  await reached(id, 'succeeded');
});

const freeze = (reason: string) => ({
  freezes: [{ from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', reason }],
});

test('what changes the org of a frozen environment waits like a release, also without a project, or is overridden by an owner', async () => {
  const path = `/api/environments/${environments['their-prod']}`;
  await app.as(app.owner).patch(200, path, { promotion: freeze('year end') });
  const install = { id: 'install-artifacts', orgUsername: 'prod@their.example' };
  const run = (status: number, payload: object, caller: Bearer = app.owner): Promise<Json> =>
    app.as(caller).post(status, '/api/flows/run', { payload: { note: 'org', ...payload } });
  const waiting = await run(202, install);
  expect((await reached(waiting.id, 'waiting_window')).waitsFor).toMatch(/^their-prod is frozen/);
  const refresh = { id: 'request-sandbox-refresh', repositoryIdentifier: 'acme/other', environmentName: 'their-prod' };
  const impatient = await run(202, { ...refresh, failOutsideWindow: true });
  expect(await reached(impatient.id, 'failed')).toMatchObject({ result: { code: 'outside_window' }, startedAt: null });
  const override = { reason: 'outage' };
  await run(403, { ...install, override }, app.member);
  const urgent = await run(202, { ...install, override });
  expect(await reached(urgent.id, 'succeeded')).toMatchObject({ override });
  await app.as(app.owner).patch(200, path, { promotion: null });
  await reached(waiting.id, 'succeeded');
});

describe('a run that waits', () => {
  const setPolicy = (promotion: object | null) =>
    app.as(app.owner).patch(200, `/api/environments/${environments.int}`, { promotion });
  afterEach(() => setPolicy(null));

  test.each<[string, RegExp, (candidate: Json) => Promise<unknown>]>([
    [
      'is aborted',
      /was aborted/,
      ({ domain, releaseName }) =>
        app.as(app.owner).post(200, '/api/release-candidates/abort', { repositoryIdentifier, domain, releaseName }),
    ],
    ['is deleted', /not found/, ({ id }) => app.as(app.owner).delete(204, `/api/release-candidates/${id}`)],
    [
      'moves to a branch that the environment does not take',
      /is on the branch feature/,
      ({ releaseName }) => cutRelease(app, repositoryIdentifier, releaseName, { branch: 'feature/x' }),
    ],
  ])('ends as soon as its candidate %s', async (_, error, change) => {
    await setPolicy(freeze('year end'));
    const { id, note } = await runs.start({ id: 'execute-release', environmentName: 'int' });
    await reached(id, 'waiting_window');
    await change(await cutRelease(app, repositoryIdentifier, note));
    expect((await reached(id, 'failed')).success.error).toMatch(error);
  });

  test('for the lock, and may not wait for a window, names the window that closed', async () => {
    const path = `/api/environments/${environments.int}/locks`;
    const { ticketId } = await app.as(app.owner).post(201, path, {});
    const { id } = await runs.start({ id: 'execute-release', environmentName: 'int', failOutsideWindow: true });
    await reached(id, 'waiting_lock');
    await setPolicy(freeze('incident'));
    await app.as(app.owner).delete(204, `${path}/${ticketId}`);
    expect(await reached(id, 'failed')).toMatchObject({ result: { code: 'outside_window' }, startedAt: null });
  });
});
