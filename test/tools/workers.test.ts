import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { createTemporalClient } from '../../workflows/temporal-client.ts';
import { sweeperId } from '../../workflows/system/sweeper.contract.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { eventually, startWorkerProcess, type TestWorkerProcess } from '../support/worker.ts';

const TOOL = join(import.meta.dirname, '../../tools/workers.ts');

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

const client = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
const started: TestWorkerProcess[] = [];
let app: TestApp;

beforeAll(async () => {
  app = await testApp();
});
afterAll(async () => {
  await Promise.all(started.map((worker) => worker.kill('SIGTERM')));
  await client.workflow
    .getHandle(sweeperId(app.queuePrefix))
    .terminate()
    .catch(() => undefined);
  await client.connection.close();
  await app.close();
});

const startBuild = async (buildId: string, queues: string[]) =>
  started.push(await startWorkerProcess({ ...app, env: { ...app.env, WORKER_BUILD_ID: buildId } }, queues));

const workers = (args: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  new Promise((resolve) => {
    const { NODE_OPTIONS: _, ...inherited } = process.env;
    execFile(
      process.execPath,
      [TOOL, ...args],
      { env: { ...inherited, ...app.env, ...env } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

/** Workers register their build and its task queues when they first poll. */
const succeeded = (args: string[]): Promise<Outcome> =>
  eventually(
    () => workers(args),
    ({ code }) => code === 0,
  );

/** Signals by which workers gave the sweeper its sweeps. */
async function configurations(): Promise<string[]> {
  const handle = client.workflow.getHandle(sweeperId(app.queuePrefix));
  const history = await handle.fetchHistory().catch(() => undefined);
  return (history?.events ?? []).flatMap(
    ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? [],
  );
}

test('a build that serves fewer task queues is refused, and the sweeper has the sweeps of the current build', async () => {
  await startBuild('n', ['system-v1', 'audit-v1', 'commands-v1']);
  expect(await configurations()).toEqual([]);
  await succeeded(['use', 'n']);
  await eventually(configurations, ({ length }) => length === 1);

  await startBuild('n+1', ['system-v1', 'commands-v1']);
  const { code, stdout, stderr } = await eventually(
    () => workers(['use', 'n+1']),
    (outcome) => !outcome.stderr.includes('system-v1') && !outcome.stderr.includes('commands-v1'),
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(
    `The build n+1 does not serve ${app.queuePrefix}audit-v1 as the current build n does: start its workers for that first.\n`,
  );
  expect(await configurations()).toHaveLength(1);

  await succeeded(['use', 'n+1', '--ignore-missing-queues']);
  await eventually(configurations, ({ length }) => length === 2);
  const { stdout: listed } = await succeeded(['list']);
  const builds = JSON.parse(listed) as object[];
  expect(builds).toHaveLength(2);
  expect(builds).toContainEqual({ buildId: 'n+1', isCurrent: true, pinned: 0 });

  await succeeded(['use', 'n']);
  await eventually(configurations, ({ length }) => length === 3);
}, 90_000);

test.each([
  [['use', 'unknown'], {}, /^No worker of the build unknown is known/],
  [['list', 'n'], {}, /^Usage: npm run workers/],
  [['use', 'n', '--force'], {}, /--force/],
  [['list'], { TEMPORAL_ADDRESS: '' }, /^The environment variable TEMPORAL_ADDRESS is missing/],
  [['list'], { TEMPORAL_ADDRESS: '127.0.0.1:1' }, /^Temporal does not answer at 127\.0\.0\.1:1/],
] as const)(
  '%j with %j is refused with a sentence',
  async (args, env, sentence) => {
    const { code, stdout, stderr } = await workers([...args], env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/^ {4}at /m);
  },
  30_000,
);
