import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowFailedError, WorkflowHandle } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import { workflowIdOfRun } from '../../../support/run-key.ts';
import type { Json } from '../../../support/client.ts';
import { EventStream } from '../../../support/event-stream.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { cutRelease } from '../../../support/releases.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-flows-'));
const commandsFile = join(folder, 'commands.json');
const script = (name: string, body: string) => {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
};

const until = (file: string) => `until [ -e ${join(folder, file)} ]; do sleep 0.05; done`;

let app: TestApp;
let worker: TestWorker;
const repositoryIdentifier = 'acme/shop';
const configuration = { approvalPolicy: { skipApproval: true } };
const temporal = createTemporalClient({
  address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '',
  namespace: 'default',
});
const workflowOf = async (runId: string): Promise<WorkflowHandle> =>
  temporal.workflow.getHandle(await workflowIdOfRun(app, runId));

beforeAll(async () => {
  writeFileSync(
    commandsFile,
    JSON.stringify({
      'run-apex-tests': {
        program: script('say', 'echo "$@"; echo "$SECRET $QUAYSIDE_RUN_ID" >&2; env | sort'),
        args: ['--org', '{payload.orgUsername}'],
        env: { SECRET: 'shown' },
      },
      'install-packages': { program: script('fail', 'exit 3') },
      'uninstall-packages': {
        program: script(
          'print',
          `echo one; printf %.9s "$QUAYSIDE_TOKEN"; ${until('go-on')}; echo "\${QUAYSIDE_TOKEN#?????????}"; ${until('end')}; echo two`,
        ),
      },
      'request-freeze-users': { program: script('hang', 'sleep 300 & sleep 300'), timeoutSeconds: 600 },
      analyze: { program: script('slow', 'sleep 30'), timeoutSeconds: 1 },
      'execute-release': { program: script('release', 'test "$1" != bad'), args: ['{payload.environmentName}'] },
    }),
  );
  app = await testApp({ env: { COMMANDS_FILE: commandsFile, TEMPORAL_UI_URL: 'http://ui.test' } });
  worker = await startWorker(app, ['flows-v1', 'commands-v1', 'environment-locks-v1']);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration });
});
afterAll(async () => {
  await worker.stop();
  await temporal.connection.close();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = async (payload: object, caller = app.owner): Promise<Json> =>
  (await app.as(caller).post(202, '/api/flows/run', { payload: { repositoryIdentifier, ...payload } })).id;
const shown = (id: Json): Promise<Json> => app.as(app.member).get(200, `/api/flows/runs/${id}`);
const ended = (id: Json): Promise<Json> =>
  eventually(
    () => shown(id),
    ({ success }) => success !== null,
  );

test('a command runs with its arguments and a clean environment, and its output is kept', async () => {
  const id = await run({ id: 'run-apex-tests', repositoryIdentifier, orgUsername: 'a b; rm -rf /' });
  const done = await ended(id);
  expect(done).toMatchObject({
    status: 'Completed',
    rawStatus: 'succeeded',
    success: { isSuccess: true, error: null },
    result: { exitCode: 0 },
    triggeredBy: app.owner.email,
    projectIdentifier: repositoryIdentifier,
  });
  expect(done.temporalUrl).toBe(
    `http://ui.test/namespaces/default/workflows/${encodeURIComponent(`${app.queuePrefix}:acme/flow/run-apex-tests/${repositoryIdentifier}/${id.slice(-12)}`)}`,
  );
  expect(done.outputTail).toContain('--org a b; rm -rf /\n');
  expect(done.outputTail).toContain(`shown ${id}`);
  expect(done.outputTail).not.toMatch(/DATABASE_URL|TEMPORAL/);
  expect(done.durationMs).toBeGreaterThanOrEqual(0);
  const { text } = await app.as(app.member).request(200, 'GET', `/api/flows/runs/${id}/output`);
  expect(text).toBe(done.outputTail);
});

test('what a command prints is readable while it runs, from any place on', async () => {
  const changes = await EventStream.open(app.url, '/api/changes?topics=flow_output', app.member);
  const id = await run({ id: 'uninstall-packages' });
  const read = (status: number, headers: Record<string, string> = {}) =>
    app.as(app.member).request(status, 'GET', `/api/flows/runs/${id}/output`, { headers });
  const printed = (text: string) =>
    eventually(
      () => read(200),
      (answer) => answer.text === text,
    );
  const headersOf = ({ headers }: Awaited<ReturnType<typeof read>>) => [
    headers.get('x-output-complete'),
    headers.get('content-range'),
  ];
  expect(headersOf(await printed('one\n'))).toEqual(['false', null]);
  await changes.named('flow_output', id);
  changes.close();
  await expect(shown(id)).resolves.toMatchObject({ outputTail: 'one\n', outputBytes: 4 });
  const part = await read(206, { range: 'bytes=2-' });
  expect([part.text, ...headersOf(part)]).toEqual(['e\n', 'false', 'bytes 2-3/*']);
  expect(headersOf(await read(416, { range: 'bytes=4-' }))[1]).toBe('bytes */4');
  writeFileSync(join(folder, 'go-on'), '');
  await printed('one\n***\n');
  writeFileSync(join(folder, 'end'), '');
  await expect(ended(id)).resolves.toMatchObject({ outputTail: 'one\n***\ntwo\n', outputBytes: 12 });
  const whole = await read(200);
  expect([whole.text, ...headersOf(whole)]).toEqual(['one\n***\ntwo\n', 'true', null]);
  expect(headersOf(await read(206, { range: 'bytes=8-' }))).toEqual(['true', 'bytes 8-11/12']);
  await expect(app.sql('select output_so_far from flow_run where id = ?', [id])).resolves.toEqual([
    { output_so_far: null },
  ]);
});

test('a command that fails fails its run and says with what', async () => {
  expect(await ended(await run({ id: 'install-packages' }))).toMatchObject({
    status: 'Failed',
    success: { isSuccess: false, error: 'The command ended with exit code 3' },
    result: { exitCode: 3 },
  });
});

test('a command whose placeholder has no value does not run', async () => {
  expect(await ended(await run({ id: 'run-apex-tests' }))).toMatchObject({
    status: 'Failed',
    success: { error: 'The payload has no orgUsername for the command' },
  });
});

test('a type that nothing executes is refused at once, and says what would change that', async () => {
  const owner = app.as(app.owner);
  const refused = await owner.post(409, '/api/flows/run', {
    payload: { id: 'install-changeset', repositoryIdentifier },
  });
  expect(refused).toMatchObject({
    code: 'flow_unavailable',
    detail: expect.stringMatching(/install-changeset.*pipeline.*COMMANDS_FILE/),
  });
  expect(await owner.get(200, '/api/flows/runs?taskType=install-changeset')).toMatchObject({ totalCount: 0 });
});

test('a time limit ends the command', async () => {
  expect(await ended(await run({ id: 'analyze' }))).toMatchObject({ rawStatus: 'timed_out', status: 'Failed' });
});

test('a cancellation ends a command, and asking for it again changes nothing', async () => {
  const id = await run({ id: 'request-freeze-users' });
  await eventually(
    () => shown(id),
    ({ status }) => status === 'Running',
  );
  await app.as(app.member).post(200, `/api/flows/runs/${id}/cancel`);
  await app.as(app.member).post(200, `/api/flows/runs/${id}/cancel`);
  expect(await ended(id)).toMatchObject({ status: 'Cancelled' });
  await app.as(app.member).post(200, `/api/flows/runs/${id}/cancel`);
});

test('a release goes stage by stage, and stops at a stage that is not well', async () => {
  const owner = app.as(app.owner);
  const own = 'acme/staged';
  await owner.post(201, '/api/projects', { identifier: own, platform: 'host-a', configuration });
  for (const [name, orchestrationOrder] of [
    ['uat', 1],
    ['bad', 2],
    ['good', 2],
    ['prod', 3],
  ] as const) {
    await owner.post(201, '/api/environments', {
      repositoryIdentifier: own,
      name,
      category: 'release',
      orchestrationOrder,
    });
  }
  await owner.post(201, '/api/webhooks', {
    name: 'deployments',
    event: 'deployment.started',
    config: { url: 'http://127.0.0.1:9/' },
  });
  await cutRelease(app, own, 'r1');
  const done = await ended(
    await run({ id: 'request-release', repositoryIdentifier: own, domain: 'core', releaseName: 'r1' }),
  );
  expect(done).toMatchObject({ status: 'Partial' });
  expect(done.children.map(({ status }: Json) => status).toSorted()).toEqual(['Completed', 'Completed', 'Failed']);
  const children = await app.sql('select triggered_by, requested_by from flow_run where parent_id is not null');
  expect(children).toEqual(
    children.map(() => ({
      triggered_by: app.owner.email,
      requested_by: expect.objectContaining({ email: app.owner.email, type: 'user' }),
    })),
  );
  const parent = await workflowIdOfRun(app, done.id);
  for (const { id } of done.children) {
    const started = await (await workflowOf(id)).describe();
    expect(started.raw.workflowExecutionInfo?.parentExecution?.workflowId).toBe(parent);
  }
  const startedAsChildren = ((await temporal.workflow.getHandle(parent).fetchHistory()).events ?? []).filter(
    ({ childWorkflowExecutionStartedEventAttributes: child }) => child,
  );
  expect(startedAsChildren).toHaveLength(done.children.length);
  const told = await app.sql<{ payload: Json }>(
    `select payload from webhook_delivery where event = 'deployment.started'`,
  );
  expect(told.map(({ payload }) => payload.environmentName).toSorted()).toEqual(['bad', 'good', 'uat']);
  expect(told.map(({ payload }) => payload.executionId).toSorted()).toEqual(
    done.children.map(({ id }: Json) => id).toSorted(),
  );
  expect(told[0]?.payload).toMatchObject({
    repositoryIdentifier: own,
    domain: 'core',
    releaseName: 'r1',
    status: 'Running',
    deployedBy: app.owner.email,
  });
});

test.each([
  ['succeeded', { id: 'run-apex-tests', orgUsername: 'a' }, 'COMPLETED', undefined],
  ['failed', { id: 'install-packages' }, 'FAILED', 'failed'],
  ['timed out', { id: 'analyze' }, 'FAILED', 'timed_out'],
])('the workflow of a run that %s ends likewise', async (_, payload, status, type) => {
  const id = await run(payload);
  await ended(id);
  const handle = await workflowOf(id);
  const failure = await handle.result().then(
    () => undefined,
    (error: WorkflowFailedError) => error.cause,
  );
  expect((await handle.describe()).status.name).toBe(status);
  expect((failure as ApplicationFailure | undefined)?.type).toBe(type);
});

test('the workflow of a run that is cancelled is a cancelled workflow', async () => {
  const id = await run({ id: 'request-freeze-users' });
  await eventually(
    () => shown(id),
    ({ status }) => status === 'Running',
  );
  await app.as(app.owner).post(200, `/api/flows/runs/${id}/cancel`);
  await ended(id);
  const handle = await workflowOf(id);
  await handle.result().catch(() => undefined);
  expect((await handle.describe()).status.name).toBe('CANCELLED');
});
