import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import {
  BuildUnavailableError,
  deploymentName,
  listBuilds,
  setCurrentBuild,
} from '../../../../workflows/temporal-deployments.ts';
import { webhookReceiver, type WebhookReceiver } from '../../../simulators/webhook-receiver.ts';
import { workflowIdOfRun } from '../../../support/run-key.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { cutRelease } from '../../../support/releases.ts';
import { eventually, startWorker, startWorkerProcess } from '../../../support/worker.ts';

const client = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
const QUEUES = ['flows-v1', 'commands-v1', 'approvals-v1', 'environment-locks-v1', 'releases-v1', 'webhooks-v1'];
const repositoryIdentifier = 'acme/shop';
const folder = mkdtempSync(join(tmpdir(), 'quayside-upgrade-'));
const marks = join(folder, 'marks');
/** The long program runs until there is this file. */
const released = join(folder, 'released');
/** What a test that fails leaves to be ended. */
const toStop: (() => Promise<unknown>)[] = [];
let app: TestApp;
let receiver: WebhookReceiver;
let deployment: string;

beforeAll(async () => {
  writeFileSync(marks, '');
  const commandsFile = join(folder, 'commands.json');
  const mark = `echo $QUAYSIDE_RUN_ID >> ${marks}`;
  const program = { program: '/bin/sh', args: ['-c', mark] };
  writeFileSync(
    commandsFile,
    JSON.stringify({
      'run-apex-tests': program,
      analyze: { ...program, args: ['-c', `${mark}; while [ ! -e ${released} ]; do sleep 0.1; done`] },
      'execute-release': program,
    }),
  );
  app = await testApp({ env: { COMMANDS_FILE: commandsFile, OUTBOUND_ALLOW: '127.0.0.0/8' } });
  deployment = deploymentName(app.queuePrefix, 'quayside');
  receiver = await webhookReceiver();
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
  const approvalPolicy = { allowSelfApproval: true };
  for (const name of ['uat', 'prod'])
    await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'release', approvalPolicy });
  await owner.post(201, '/api/webhooks', { name: 'load', event: 'load', config: { url: receiver.url } });
});
afterAll(async () => {
  writeFileSync(released, '');
  await Promise.allSettled(toStop.map((stop) => stop()));
  await Promise.all([receiver.close(), client.connection.close()]);
  await app.close();
  rmSync(folder, { recursive: true });
});

const ofBuild = (buildId: string): TestApp => ({ ...app, env: { ...app.env, WORKER_BUILD_ID: buildId } });
/** Workers register their build when they first poll. */
const makeCurrent = (buildId: string) =>
  eventually(
    () =>
      setCurrentBuild(client, deployment, buildId).then(
        () => '',
        (error: Error) => error.message,
      ),
    (problem) => problem === '',
  );
const run = async (payload: object): Promise<string> =>
  (await app.as(app.owner).post(202, '/api/flows/run', { payload: { repositoryIdentifier, ...payload } })).id;
const reached = (id: string, status: string): Promise<Json> =>
  eventually(
    () => app.as(app.owner).get(200, `/api/flows/runs/${id}`),
    ({ rawStatus }) => rawStatus === status,
  );
/** Builds that took on the tasks of a run's workflow, in turn. */
async function buildsOf(runId: string): Promise<string[]> {
  const id = await workflowIdOfRun(app, runId);
  const { events } = await client.workflow.getHandle(id).fetchHistory();
  const builds = (events ?? []).flatMap(
    ({ workflowTaskCompletedEventAttributes: task }) => task?.deploymentVersion?.buildId ?? [],
  );
  return [...new Set(builds)];
}

/** Short runs, release events and webhooks, side by side, until it is stopped. */
function load() {
  const runs: string[] = [];
  let events = 0;
  let deliveries = 0;
  const stop = new AbortController();
  const repeated = async (work: (n: number) => Promise<void>) => {
    for (let n = 0; !stop.signal.aborted; n++) {
      await work(n);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  };
  const pipeline = app.as(app.application);
  const done = Promise.all([
    repeated(async () => void runs.push(await run({ id: 'run-apex-tests', orgUsername: 'a' }))),
    repeated(async (n) => {
      const release = { repositoryIdentifier, domain: 'core', releaseName: `r${n}` };
      await pipeline.post(201, '/api/release-candidates', {
        ...release,
        commitSha: 'abcdef0',
        value: { artifacts: {} },
      });
      const event = { ...release, environmentName: 'uat', deploymentStatus: 'Success' };
      // 202: it is stored, and applied later.
      const { status } = await pipeline.send('POST', '/api/release-candidates/release-event', { body: event });
      expect([200, 202]).toContain(status);
      events++;
    }),
    repeated(async (n) => {
      await pipeline.post(202, '/api/webhooks/trigger', { event: 'load', payload: { n } });
      deliveries++;
    }),
  ]);
  const least = () => Math.min(runs.length, events, deliveries);
  return {
    /** Waits until there is so much more of each. */
    async goesOn(more: number) {
      const until = least() + more;
      await eventually(
        async () => least(),
        (made) => made >= until,
      );
    },
    async stop() {
      stop.abort();
      await done;
      return { runs, events, deliveries };
    },
  };
}

test('workers are replaced by those of the next build under load, and nothing is lost', async () => {
  await expect(setCurrentBuild(client, deployment, 'n')).rejects.toThrow(BuildUnavailableError);
  const older = await startWorker(ofBuild('n'), QUEUES);
  let stopping: Promise<void> | undefined;
  const stopOlder = () => (stopping ??= older.stop());
  toStop.push(stopOlder);
  await makeCurrent('n');
  const { goesOn, stop: stopLoad } = load();
  toStop.push(stopLoad);
  await goesOn(5);
  await cutRelease(app, repositoryIdentifier, 'gated');
  const gated = await run({ id: 'execute-release', domain: 'core', releaseName: 'gated', environmentName: 'prod' });
  await reached(gated, 'waiting_approval');
  const long = await run({ id: 'analyze' });
  await reached(long, 'running');

  // Its sweeps apply the events which no worker answered in time.
  const newer = await startWorkerProcess(ofBuild('n+1'), [...QUEUES, 'system-v1']);
  toStop.push(() => newer.kill('SIGTERM'));
  await makeCurrent('n+1');
  const drained = () => listBuilds(client, deployment);
  const seen = await drained();
  expect(seen).toContainEqual({ buildId: 'n+1', isCurrent: true, pinned: expect.any(Number) });
  writeFileSync(released, '');
  await eventually(drained, (builds) => builds.some(({ buildId, pinned }) => buildId === 'n' && pinned === 0));
  await stopOlder();
  const { items } = await app.as(app.owner).get(200, '/api/flows/approvals');
  // 503: the workflow has just moved to other workers, and is to be asked again.
  const approve = () => app.as(app.owner).send('POST', `/api/flows/approvals/${items[0].id}/approve`, { body: {} });
  const { status } = await eventually(approve, (answer) => answer.status !== 503);
  expect(status).toBe(200);
  const late = await run({ id: 'run-apex-tests', orgUsername: 'a' });
  await goesOn(5);
  const { runs, events, deliveries } = await stopLoad();
  try {
    for (const id of [...runs, late, long, gated]) await reached(id, 'succeeded');
    await eventually(
      () => app.sql<{ open: number }>(`select count(*)::int as open from webhook_delivery where status <> 'delivered'`),
      ([row]) => row?.open === 0,
    );
    await eventually(
      () =>
        app.db
          .selectFrom('release_candidate')
          .select('status')
          .select(({ fn }) => fn.countAll<string>().as('total'))
          .where('releaseName', 'like', 'r%')
          .groupBy('status')
          .execute(),
      (found) => isDeepStrictEqual(found, [{ status: 'in_progress', total: String(events) }]),
    );
  } finally {
    await newer.kill('SIGTERM');
  }
  const programs = readFileSync(marks, 'utf8').trim().split('\n');
  expect(programs.toSorted()).toEqual([...runs, late, long, gated].toSorted());
  const received = receiver.requests.map(({ body }) => (JSON.parse(body) as { data: { n: number } }).data.n);
  expect(new Set(received).size).toBe(deliveries);
  expect(await buildsOf(long)).toEqual(['n']);
  expect(await buildsOf(gated)).toEqual(['n', 'n+1']);
  expect(await buildsOf(late)).toEqual(['n+1']);
  const ofRuns = await Promise.all(runs.map((id) => buildsOf(id)));
  expect(ofRuns.filter(({ length }) => length !== 1)).toEqual([]);
  expect(new Set(ofRuns.flat())).toEqual(new Set(['n', 'n+1']));
});
