import { createTemporalClient } from '../../workflows/temporal-client.ts';
import { sweeperId, type SweepPlan } from '../../workflows/kernel/system/sweeper.contract.ts';
import { SWEEPS } from '../../activities/sweeps.ts';
import { workersCommand } from '../../tools/workers-command.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { eventually, startWorker, type TestWorker } from '../support/worker.ts';
import { type Outcome, runCommand, runProgram } from './command.ts';

const client = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
const started: TestWorker[] = [];
let app: TestApp;

beforeAll(async () => {
  app = await testApp();
});
afterAll(async () => {
  await Promise.all(started.map((worker) => worker.stop()));
  await client.workflow
    .getHandle(sweeperId(app.queuePrefix))
    .terminate()
    .catch(() => undefined);
  await client.connection.close();
  await app.close();
});

const startBuild = async (buildId: string, pace: number, queues: string[]) => {
  const env = { ...app.env, WORKER_BUILD_ID: buildId, SERVICE_PACE: String(pace) };
  started.push(await startWorker({ ...app, env }, queues));
};

const workers = (args: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  runCommand(workersCommand, args, { ...process.env, ...app.env, ...env });

/** Workers register their build and its task queues when they first poll. */
const succeeded = (args: string[]): Promise<Outcome> =>
  eventually(
    () => workers(args),
    ({ code }) => code === 0,
  );

/** The pace of the workers that gave the sweeper its sweeps, in order: it tells one build from the other. */
async function configuredBy(): Promise<number[]> {
  const handle = client.workflow.getHandle(sweeperId(app.queuePrefix));
  const history = await handle.fetchHistory().catch(() => undefined);
  return (history?.events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => {
    const [plan] = signal?.input?.payloads ?? [];
    if (!plan?.data) return [];
    const [first] = JSON.parse(Buffer.from(plan.data).toString()) as SweepPlan[];
    return (first?.everyMs ?? 0) / (SWEEPS[0]?.everyMs ?? 0);
  });
}

const [PACE, PACE_OF_NEXT] = [0.1, 0.2];
const isLast = (pace: number) => (paces: number[]) => paces.at(-1) === pace;

test('a build that serves fewer task queues is refused, and the sweeper has the sweeps of the current build', async () => {
  await startBuild('n', PACE, ['system-v1', 'audit-v1', 'commands-v1']);
  expect(await configuredBy()).toEqual([]);
  await succeeded(['use', 'n']);
  await eventually(configuredBy, isLast(PACE));

  await startBuild('n+1', PACE_OF_NEXT, ['system-v1', 'commands-v1']);
  const { code, stdout, stderr } = await eventually(
    () => workers(['use', 'n+1']),
    // Its task queues become known one after another.
    (outcome) => /does not serve (?!.*(system|commands)-v1)/.test(outcome.stderr),
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(
    `The build n+1 does not serve ${app.queuePrefix}audit-v1 as the current build n does: start its workers for that first.\n`,
  );
  expect(await configuredBy()).not.toContain(PACE_OF_NEXT);

  await succeeded(['use', 'n+1', '--ignore-missing-queues']);
  await eventually(configuredBy, isLast(PACE_OF_NEXT));
  const { stdout: listed, ...outcome } = await runProgram('workers', ['list'], app.env);
  expect(outcome).toEqual({ code: 0, stderr: '' });
  const builds = JSON.parse(listed) as object[];
  expect(builds).toHaveLength(2);
  expect(builds).toContainEqual({ buildId: 'n+1', isCurrent: true, pinned: 0 });

  await succeeded(['use', 'n']);
  await eventually(configuredBy, isLast(PACE));
});

test('its program ends with one sentence when it is refused', async () => {
  const env = { ...app.env, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  expect(await runProgram('workers', ['list'], env)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'Temporal does not answer at 127.0.0.1:1.\n',
  });
});

test.each([
  [['use', 'unknown'], {}, /^No worker of the build unknown is known/],
  [['list', 'n'], {}, /^Usage: npm run workers/],
  [['use', 'n', '--force'], {}, /--force/],
  [['list'], { TEMPORAL_ADDRESS: '' }, /^The environment variable TEMPORAL_ADDRESS is missing/],
  [['list'], { TEMPORAL_ADDRESS: '127.0.0.1:1' }, /^Temporal does not answer at 127\.0\.0\.1:1/],
] as const)('%j with %j is refused with a sentence', async (args, env, sentence) => {
  const { code, stdout, stderr } = await workers([...args], env);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toMatch(/^ {4}at /m);
});
