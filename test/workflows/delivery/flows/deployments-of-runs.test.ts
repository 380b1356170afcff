import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { DEPLOYING_QUEUES, deployingRuns, repositoryIdentifier } from '../../../support/deploying-runs.ts';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
let host: GitHostSimulator;
const runs = deployingRuns(() => app);
const { cut, start, endless, reached, shown, deploymentsOf, statusOf } = runs;

beforeAll(async () => {
  host = await gitHost('host-a');
  app = await testApp({
    env: { COMMANDS_FILE: runs.commandsFile, OUTBOUND_ALLOW: '127.0.0.0/8', SERVICE_PACE: '0.3' },
  });
  app.env.PUBLIC_URL = app.url;
  worker = await startWorker(app, DEPLOYING_QUEUES);
  await runs.prepare();
  const owner = app.as(app.owner);
  await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'guarded',
    category: 'test',
    approvalPolicy: { allowSelfApproval: true },
  });
  await owner.post(201, '/api/integrations', {
    kind: 'host-a',
    name: 'host',
    baseUrl: host.url,
    credentials: hostCredentials,
  });
  await owner.post(201, '/api/webhooks', {
    name: 'deployments',
    events: ['deployment.*', 'release_candidate.status_changed'],
    config: { url: 'http://127.0.0.1:9/' },
  });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await host.close();
  runs.remove();
});

const approve = async (executionId: string): Promise<void> => {
  await reached(executionId, 'waiting_approval');
  const { items } = await app.as(app.owner).get(200, '/api/flows/approvals');
  const { id } = items.find((each: Json) => each.executionId === executionId);
  await app.as(app.owner).post(200, `/api/flows/approvals/${id}/approve`, {});
};
const started = (id: string) =>
  eventually(
    () => app.sql('select 1 from flow_run where id = ? and program_started_at is not null', [id]),
    (rows) => rows.length > 0,
  );
const announced = async (executionId: string): Promise<Json[]> =>
  app.sql(
    `select event, payload ->> 'deployedBy' as by from webhook_delivery where payload ->> 'executionId' = ? order by created_at, event desc`,
    [executionId],
  );

test('a run that deploys is a deployment, with its approval and duration, and moves the candidate on', async () => {
  await cut('r1');
  const id = await start({ releaseName: 'r1', environmentName: 'guarded' });
  await approve(id);
  await reached(id, 'succeeded');
  const [deployment, ...more] = await deploymentsOf(id);
  expect(more).toEqual([]);
  expect(deployment).toMatchObject({
    environment: 'guarded',
    status: 'Success',
    installed: { app: '1.0.0', lib: '2.0.0' },
    installs_all: true,
    metadata: { taskType: 'execute-release', durationMs: expect.any(Number) },
    approval: { status: 'approved', requestedBy: app.owner.email, approvedBy: app.owner.email, source: 'flow' },
  });
  expect(await statusOf('r1')).toBe('in_progress');
  expect(await announced(id)).toEqual([
    { event: 'deployment.started', by: app.owner.email },
    { event: 'deployment.completed', by: app.owner.email },
  ]);
  const { releases } = await app
    .as(app.member)
    .get(200, `/api/releases?repositoryIdentifier=${repositoryIdentifier}&domain=core&releaseName=r1`);
  expect(releases[0].environments).toMatchObject([{ name: 'guarded', packages: { app: '1.0.0', lib: '2.0.0' } }]);
});

test('a run that fails, or is cancelled, is recorded so once its work had begun', async () => {
  await cut('r2');
  const failing = await start({ releaseName: 'r2', environmentName: 'uat', act: 'exit 3' });
  await reached(failing, 'failed');
  const hanging = await start({ releaseName: 'r2', environmentName: 'uat', act: 'sleep 600' });
  await reached(hanging, 'running');
  await started(hanging);
  await app.as(app.owner).post(200, `/api/flows/runs/${hanging}/cancel`);
  await reached(hanging, 'cancelled');
  expect(await deploymentsOf(failing)).toMatchObject([{ status: 'Failed', installed: {} }]);
  expect(await deploymentsOf(hanging)).toMatchObject([{ status: 'Cancelled', installed: {} }]);
  expect(await announced(hanging)).toMatchObject([{ event: 'deployment.started' }, { event: 'deployment.failed' }]);
  expect(await statusOf('r2')).toBe('pending');
});

test('a run that ends before its work began deployed nothing', async () => {
  await cut('r3');
  const waiting = await start({ releaseName: 'r3', environmentName: 'guarded' });
  await reached(waiting, 'waiting_approval');
  await app.as(app.owner).post(200, `/api/flows/runs/${waiting}/cancel`);
  await reached(waiting, 'cancelled');
  const holder = await start({ releaseName: 'r3', environmentName: 'uat', act: 'sleep 600' });
  await reached(holder, 'running');
  const inLine = await start({ releaseName: 'r3', environmentName: 'uat' });
  await reached(inLine, 'waiting_lock');
  for (const id of [inLine, holder]) await app.as(app.owner).post(200, `/api/flows/runs/${id}/cancel`);
  await reached(inLine, 'cancelled');
  await reached(holder, 'cancelled');
  const unfilled = await start({ releaseName: 'r3', environmentName: 'uat', act: undefined });
  await reached(unfilled, 'failed');
  for (const id of [waiting, inLine, unfilled]) expect(await deploymentsOf(id)).toEqual([]);
  for (const id of [waiting, inLine]) expect(await announced(id)).toEqual([]);
  // Its program could not be started after the beginning was announced.
  expect(await announced(unfilled)).toMatchObject([{ event: 'deployment.started' }, { event: 'deployment.failed' }]);
});

test('a deployment that was announced ends with one event, also where its environment and lock are gone by then', async () => {
  await cut('r9');
  const { id: environmentId } = await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'short',
    category: 'release',
    orchestrationOrder: 9,
  });
  const id = await start({ releaseName: 'r9', environmentName: 'short', act: 'sleep 600' });
  await started(id);
  await app.sql('delete from environment where id = ?', [environmentId]);
  await reached(id, 'failed');
  expect(await deploymentsOf(id)).toEqual([]);
  expect(await announced(id)).toMatchObject([{ event: 'deployment.started' }, { event: 'deployment.failed' }]);
});

test('what the command reports itself is the deployment: the run adds none', async () => {
  await cut('r4');
  const event = `'{"repositoryIdentifier":"acme/shop","domain":"core","releaseName":"r4","environmentName":"uat","deploymentStatus":"Partial","packages":{"lib":"2.0.0"},"executionId":"'$QUAYSIDE_RUN_ID'"}'`;
  const post = `fetch(process.env.QUAYSIDE_URL + '/api/release-candidates/release-event', { method: 'POST', body: process.argv[1], headers: { authorization: 'Bearer ' + process.env.QUAYSIDE_TOKEN, 'content-type': 'application/json' } }).then((r) => console.log('answer', r.status))`;
  const id = await start({
    releaseName: 'r4',
    environmentName: 'uat',
    act: `${process.execPath} -e "${post}" ${event}`,
  });
  const { outputTail } = await reached(id, 'succeeded');
  expect(outputTail).toBe('answer 200\n');
  const deployments = await deploymentsOf(id);
  expect(deployments).toMatchObject([{ status: 'Partial', installed: { lib: '2.0.0' } }]);
  expect(deployments).toHaveLength(1);
});

test('what the command reports of its run counts when it ends well, and its result is kept', async () => {
  await cut('r5');
  const callback = `fetch(process.env.QUAYSIDE_URL + '/api/flows/internal/' + process.env.QUAYSIDE_RUN_ID + '/callback', { method: 'POST', body: process.argv[1], headers: { authorization: 'Bearer ' + process.env.QUAYSIDE_TOKEN, 'content-type': 'application/json' } })`;
  const id = await start({
    releaseName: 'r5',
    environmentName: 'uat',
    act: `${process.execPath} -e "${callback}" '{"event":"failed","error":"tests are red","result":{"tests":12}}'`,
  });
  expect(await reached(id, 'failed')).toMatchObject({
    success: { error: 'tests are red' },
    result: { tests: 12, exitCode: 0 },
  });
  expect(await deploymentsOf(id)).toMatchObject([{ status: 'Failed' }]);
});

test('a candidate that is replaced while a run deploys it is not deployed with its other content', async () => {
  const before = await cut('r6');
  const deploying = endless();
  const id = await start({ releaseName: 'r6', environmentName: 'uat', act: deploying.act });
  await reached(id, 'running');
  await cut('r6', '1.1.0');
  deploying.end();
  await reached(id, 'succeeded');
  const [deployment] = await deploymentsOf(id);
  expect(deployment).toMatchObject({ installed: { app: '1.0.0', lib: '2.0.0' }, status: 'Success' });
  const [candidate] = await app.sql<{ content_digest: string }>(
    'select content_digest from release_candidate where id = ?',
    [before.id],
  );
  expect(deployment?.content_digest).not.toBe(candidate?.content_digest);
});

test('a run ends whose candidate is deleted while its command or a pipeline deploys it, and its deployment stays', async () => {
  const owner = app.as(app.owner);
  const { id: first } = await cut('r11');
  const deploying = endless();
  const byCommand = await start({ releaseName: 'r11', environmentName: 'uat', act: deploying.act });
  await started(byCommand);
  await owner.send('DELETE', `/api/release-candidates/${first}`);
  deploying.end();
  await reached(byCommand, 'succeeded');

  const { id: second } = await cut('r12');
  const byPipeline = await start({ releaseName: 'r12', environmentName: 'uat', pipeline: { id: 'deploy.yml' } });
  await eventually(
    () => shown(byPipeline),
    ({ cicdRunUrl }) => cicdRunUrl !== null,
  );
  await owner.send('DELETE', `/api/release-candidates/${second}`);
  await app.as(app.application).post(204, `/api/flows/internal/${byPipeline}/callback`, { event: 'completed' });
  await reached(byPipeline, 'succeeded');
  for (const id of [byCommand, byPipeline])
    expect(await deploymentsOf(id)).toMatchObject([
      { candidate_id: null, status: 'Success', installed: { app: '1.0.0', lib: '2.0.0' } },
    ]);
});

test('a candidate that is made anew under its name while a run deploys it is not deployed with its new content', async () => {
  const before = await cut('r13');
  const id = await start({ releaseName: 'r13', environmentName: 'uat', pipeline: { id: 'deploy.yml' } });
  await eventually(
    () => shown(id),
    ({ cicdRunUrl }) => cicdRunUrl !== null,
  );
  const another = await start({ releaseName: 'r13', environmentName: 'prod', pipeline: { id: 'deploy.yml' } });
  await eventually(
    () => shown(another),
    ({ cicdRunUrl }) => cicdRunUrl !== null,
  );
  await app.as(app.owner).send('DELETE', `/api/release-candidates/${before.id}`);
  const anew = await cut('r13', '1.1.0');
  await app.as(app.application).post(200, '/api/release-candidates/release-event', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'r13',
    environmentName: 'uat',
    deploymentStatus: 'Success',
    executionId: id,
  });
  for (const each of [id, another]) {
    await app.as(app.application).post(204, `/api/flows/internal/${each}/callback`, { event: 'completed' });
    await reached(each, 'succeeded');
    expect(await deploymentsOf(each)).toMatchObject([{ candidate_id: anew.id, installed: { app: '1.0.0' } }]);
  }
  const { environments } = (
    await app
      .as(app.member)
      .get(
        200,
        `/api/releases?repositoryIdentifier=${repositoryIdentifier}&domain=core&releaseName=r13&activeOnly=false`,
      )
  ).releases[0];
  expect(environments).toMatchObject([
    { supersededContent: true, deployment: { reason: 'other_content' } },
    { supersededContent: true, deployment: { reason: 'other_content' } },
  ]);
});

test('a pipeline that executes a run makes its deployment by its callback', async () => {
  await cut('r7');
  const pipeline = { id: 'deploy.yml' };
  const id = await start({ releaseName: 'r7', environmentName: 'uat', pipeline });
  await eventually(
    () => shown(id),
    ({ cicdRunUrl }) => cicdRunUrl !== null,
  );
  await app.as(app.application).post(204, `/api/flows/internal/${id}/callback`, { event: 'completed' });
  await app.as(app.application).post(204, `/api/flows/internal/${id}/callback`, { event: 'failed' });
  await reached(id, 'succeeded');
  expect(await deploymentsOf(id)).toMatchObject([{ status: 'Success' }]);

  const early = await start({ releaseName: 'r7', environmentName: 'guarded', pipeline });
  await reached(early, 'waiting_approval');
  await app.as(app.application).post(204, `/api/flows/internal/${early}/callback`, { event: 'completed' });
  await app.as(app.owner).post(200, `/api/flows/runs/${early}/cancel`);
  await reached(early, 'cancelled');
  expect(await deploymentsOf(early)).toEqual([]);
});

test('a run of an external worker that names its environment is a deployment when it ends', async () => {
  await cut('r8');
  const outside = app.as(app.application);
  const parent = await start({ releaseName: 'r8', environmentName: 'guarded' });
  const register = (more: object, status = 201) =>
    outside.post(status, '/api/flows/internal/register-child', {
      parentTaskExecutionId: parent,
      taskType: 'execute-release',
      flowPath: 'outside/deploy',
      repositoryIdentifier,
      domainName: 'core',
      ...more,
    });
  await register({ environmentName: 'nowhere' }, 400);
  const { executionId: uat } = await register({ environmentName: 'uat' });
  const { executionId: prod } = await register({ environmentName: 'prod' });
  const { executionId: nowhere } = await register({});
  expect((await register({ environmentName: 'uat' }, 200)).executionId).toBe(uat);
  await outside.post(204, `/api/flows/internal/${uat}/callback`, { event: 'completed' });
  await outside.post(204, `/api/flows/internal/${prod}/callback`, { event: 'cancelled' });
  await outside.post(204, `/api/flows/internal/${nowhere}/callback`, { event: 'completed' });
  expect(await deploymentsOf(uat)).toMatchObject([{ environment: 'uat', status: 'Success' }]);
  expect(await deploymentsOf(prod)).toMatchObject([{ environment: 'prod', status: 'Cancelled' }]);
  expect(await deploymentsOf(nowhere)).toEqual([]);
  expect(await statusOf('r8')).toBe('in_progress');
});

test('what the run of an external worker reports itself is held against the policies, as its end is', async () => {
  await cut('external');
  const outside = app.as(app.application);
  const parent = await start({ releaseName: 'external', environmentName: 'guarded' });
  const { executionId } = await outside.post(201, '/api/flows/internal/register-child', {
    parentTaskExecutionId: parent,
    taskType: 'execute-release',
    flowPath: 'outside/deploy',
    repositoryIdentifier,
    domainName: 'core',
    environmentName: 'guarded',
  });
  const reported = await outside.post(200, '/api/release-candidates/release-event', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'external',
    environmentName: 'guarded',
    deploymentStatus: 'Success',
    executionId,
  });
  expect(reported.policyViolations).toMatchObject([{ code: 'not_approved' }]);
  await outside.post(204, `/api/flows/internal/${executionId}/callback`, { event: 'completed' });
  expect(await deploymentsOf(executionId)).toHaveLength(1);
  const brokenBy = async (id: string) => (await outside.get(200, `/api/flows/runs/${id}`)).policyViolations;
  expect(await brokenBy(executionId)).toEqual(reported.policyViolations);
  expect(await brokenBy(parent)).toEqual([]);
  await app.as(app.owner).post(200, `/api/flows/runs/${parent}/cancel`);
});

test('the runs of a release are deployments each, and finalize the candidate', async () => {
  const owner = app.as(app.owner);
  await owner.patch(200, `/api/projects/${encodeURIComponent(repositoryIdentifier)}`, {
    configuration: { autoReleaseFinalization: true },
  });
  await cut('r9');
  const id = await start({ id: 'request-release', releaseName: 'r9' });
  const { children } = await reached(id, 'succeeded');
  expect(children).toHaveLength(2);
  for (const child of children) expect(await deploymentsOf(child.id)).toMatchObject([{ status: 'Success' }]);
  expect(await deploymentsOf(id)).toEqual([]);
  expect(await statusOf('r9')).toBe('finalized');
});

test('a release that a pipeline deploys as a whole is deployed to each of its environments', async () => {
  await cut('r10');
  const id = await start({ id: 'request-release', releaseName: 'r10', pipeline: { id: 'release.yml' } });
  await eventually(
    () => shown(id),
    ({ cicdRunUrl }) => cicdRunUrl !== null,
  );
  await app.as(app.application).post(204, `/api/flows/internal/${id}/callback`, { event: 'completed' });
  await reached(id, 'succeeded');
  expect(await deploymentsOf(id)).toMatchObject([{ environment: 'prod' }, { environment: 'uat' }]);
});
