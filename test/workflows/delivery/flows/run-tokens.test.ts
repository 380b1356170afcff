import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { mintRunToken } from '../../../../domain/delivery/flows/run-tokens.mutations.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import { workflowIdOfRun } from '../../../support/run-key.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/shop';
const folder = mkdtempSync(join(tmpdir(), 'quayside-run-tokens-'));
const commandsFile = join(folder, 'commands.json');
/** Reports the deployment of its run and its progress, prints its token, and keeps it for the test. */
const REPORT = `
  const { QUAYSIDE_RUN_ID: executionId, QUAYSIDE_TOKEN: token, QUAYSIDE_URL: url } = process.env;
  require('fs').writeFileSync(process.argv[1] + '/' + executionId, token);
  console.log('with', token, JSON.stringify(process.env));
  const post = async (path, body) => {
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
    const { status } = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    console.log('answer', status);
  };
  (async () => {
    const event = { repositoryIdentifier: 'acme/shop', domain: 'core', releaseName: 'r1', deploymentStatus: 'Success' };
    await post('/api/release-candidates/release-event', { ...event, environmentName: 'uat', executionId });
    await post('/api/release-candidates/release-event', { ...event, environmentName: 'prod', executionId });
    await post('/api/flows/internal/' + executionId + '/callback', { event: 'started' });
    await post('/api/projects', { identifier: 'acme/more', platform: 'host-a' });
  })();`;

let app: TestApp;
let worker: TestWorker;
const temporal = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });

beforeAll(async () => {
  const program = { program: process.execPath, args: ['-e', REPORT, folder] };
  writeFileSync(commandsFile, JSON.stringify({ 'execute-release': program, analyze: program }));
  app = await testApp({ env: { COMMANDS_FILE: commandsFile } });
  // Its public address is not reached from here.
  app.env.INTERNAL_URL = app.url;
  worker = await startWorker(app, [
    'flows-v1',
    'commands-v1',
    'environment-locks-v1',
    'approvals-v1',
    'releases-v1',
    'system-v1',
  ]);
  const owner = app.as(app.owner);
  const configuration = { approvalPolicy: { skipApproval: true } };
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration });
  for (const name of ['uat', 'prod'])
    await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'release' });
  await owner.post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'r1',
    commitSha: 'a'.repeat(40),
    value: { artifacts: { app: '1.0.0' } },
  });
});
afterAll(async () => {
  await worker.stop();
  await temporal.connection.close();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

const executed = async (payload: object): Promise<Json> => {
  const owner = app.as(app.owner);
  const { id } = await owner.post(202, '/api/flows/run', { payload });
  return eventually(
    () => owner.get(200, `/api/flows/runs/${id}`),
    ({ success }) => success !== null,
  );
};

test('the command of a run reports its deployment with a token that nobody else sees, and that ends with the run', async () => {
  const place = { repositoryIdentifier, domain: 'core', releaseName: 'r1', environmentName: 'uat' };
  const run = await executed({ id: 'execute-release', ...place });
  const token = readFileSync(join(folder, run.id), 'utf8');
  expect(run).toMatchObject({ rawStatus: 'succeeded' });
  expect(run.outputTail.match(/answer \d+/g)).toEqual(['answer 200', 'answer 403', 'answer 204', 'answer 403']);
  expect(run.outputTail).toContain('with ***');
  expect(token).toMatch(/^qs_run_\w{43}$/);
  await app.as({ token }).post(401, `/api/flows/internal/${run.id}/callback`, { event: 'started' });

  expect(run.outputTail).not.toContain(token);
  const workflowId = await workflowIdOfRun(app, run.id);
  const history = await temporal.workflow.getHandle(workflowId).fetchHistory();
  const shown = historyToJSON(history).replaceAll(/"data": ?"([^"]*)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );
  expect(shown).toContain(run.id);
  expect(shown).not.toContain(token);
  const rows = await app.sql('select * from flow_run where id = ?', [run.id]);
  expect(JSON.stringify(rows)).not.toContain(token);
});

test('a brief run without a gate has a token, too', async () => {
  const run = await executed({ id: 'analyze', repositoryIdentifier });
  expect(run.outputTail.match(/answer \d+/g)).toEqual(['answer 403', 'answer 403', 'answer 204', 'answer 403']);
  const token = readFileSync(join(folder, run.id), 'utf8');
  await app.as({ token }).post(401, `/api/flows/internal/${run.id}/callback`, { event: 'started' });
});

test('a retry of the activity that starts a command replaces the token', async () => {
  const { deps, close } = activityDeps(app);
  const [run] = await app.sql<{ id: string }>(
    `update flow_run set status = 'running', display_status = 'Running', ended_at = null
     where id = (select id from flow_run where task_type = 'analyze' limit 1) returning id`,
  );
  const id = run?.id ?? '';
  const mint = () =>
    deps.actingAs(systemActor(app.tenantKey, 'flow'))((tx) =>
      mintRunToken(tx, { id, taskType: 'analyze' }, deps.flows.commands),
    );
  const [first, second] = [await mint(), await mint()];
  const report = (token: string, status: number) =>
    app.as({ token }).post(status, `/api/flows/internal/${id}/callback`, { event: 'started' });
  await report(first, 401);
  await report(second, 204);
  const rows = await app.sql('select * from run_token where run_id = ?', [id]);
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(second);
  await close();
});
