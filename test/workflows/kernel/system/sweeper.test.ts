import { SWEEPS } from '../../../../activities/sweeps.ts';
import { sweeperId, type SweepResults } from '../../../../workflows/kernel/system/sweeper.contract.ts';
import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { freePort } from '../../../support/free-port.ts';
import { loseHeartbeats } from '../../../support/lost-heartbeats.ts';
import {
  eventually,
  startWorker,
  startWorkerProcess,
  type TestWorker,
  type TestWorkerProcess,
} from '../../../support/worker.ts';

const client = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
/** The shortest period of a sweep is two seconds then. */
const PACE = { SERVICE_PACE: '0.2' };
let app: TestApp;
const workers: TestWorkerProcess[] = [];
beforeAll(async () => {
  app = await testApp({ env: PACE });
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill('SIGKILL');
  await client.workflow
    .getHandle(sweeperId(app.queuePrefix))
    .terminate()
    .catch(() => undefined);
});
afterAll(async () => {
  await client.connection.close();
  await app.close();
});

const work = async (env: Record<string, string> = {}) =>
  workers.push(await startWorkerProcess({ ...app, env: { ...app.env, ...env } }, ['system-v1']));

/** How often each sweep had a pass, over all runs of the sweeper. */
async function passes(queuePrefix = app.queuePrefix): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const { type, result } of await completed(queuePrefix)) {
    if (type.startsWith('sweep/')) count(type.slice('sweep/'.length));
    else for (const name of Object.keys(result.reports)) count(name);
  }
  return counts;
}

/** Activities that were completed, over all runs of the sweeper. */
async function completed(queuePrefix: string): Promise<{ type: string; result: SweepResults }[]> {
  const found: { type: string; result: SweepResults }[] = [];
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${sweeperId(queuePrefix)}'` })) {
    const { events } = await client.workflow.getHandle(sweeperId(queuePrefix), runId).fetchHistory();
    const types = new Map<string, string>();
    for (const event of events ?? []) {
      const type = event.activityTaskScheduledEventAttributes?.activityType?.name;
      if (type) types.set(String(event.eventId), type);
      const done = event.activityTaskCompletedEventAttributes;
      if (!done) continue;
      const result = JSON.parse(String(done.result?.payloads?.[0]?.data)) as SweepResults;
      found.push({ type: types.get(String(done.scheduledEventId)) ?? '', result });
    }
  }
  return found;
}

const times = (counts: Map<string, number>, name: string) => counts.get(name) ?? 0;

test('each sweep has its passes, measured, by the one sweeper, which outlives its workers and continues as new', async () => {
  await client.workflow.start('sweeper', {
    workflowId: sweeperId(app.queuePrefix),
    taskQueue: `${app.queuePrefix}system-v1`,
    args: [{ plan: [], eventsMax: 100 }],
  });
  const [beside] = await Promise.all([startWorker(app, ['system-v1']), work()]);
  await eventually(passes, (counts) => counts.size === SWEEPS.length);
  await beside.stop();
  for (const worker of workers.splice(0)) await worker.kill('SIGKILL');
  await loseHeartbeats(app, sweeperId(app.queuePrefix));

  const before = await passes();
  // Those that begin have each sweep run at once, whatever its period; then each at its time, and histories stay short.
  const port = await freePort();
  await work({ METRICS_PORT: String(port) });
  await eventually(passes, (counts) => times(counts, 'expired-replies') > times(before, 'expired-replies'));
  await eventually(passes, (counts) => times(counts, 'webhook-lanes') >= times(before, 'webhook-lanes') + 2);
  const renewed = async () =>
    (await client.workflow.count(`WorkflowId = '${sweeperId(app.queuePrefix)}' AND ExecutionStatus = 'ContinuedAsNew'`))
      .count;
  await eventually(renewed, (count) => count > 0);
  const described = () => client.workflow.getHandle(sweeperId(app.queuePrefix)).describe();
  await eventually(described, ({ historyLength }) => historyLength < 400);

  const metrics = await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text());
  expect(metrics).toContain('duration_seconds_count{sweep="flow-runs"}');
  expect(metrics).toContain('quayside_sweep_failed_total{sweep="flow-runs"} 0');
  expect(metrics).toContain('process_resident_memory_bytes');
});

test('only a sweep that has work costs an activity of its own', async () => {
  const other = await testApp({ env: { SERVICE_PACE: '0.05' } });
  const handle = client.workflow.getHandle(sweeperId(other.queuePrefix));
  const { id } = await other.as(other.owner).post(201, '/api/application-tokens', { name: 'pipeline' });
  const worker = await startWorker(other, ['system-v1']);
  try {
    const types = async () => (await completed(other.queuePrefix)).map(({ type }) => type);
    await eventually(types, (seen) => seen.filter((type) => type === 'sweeps/look').length >= 3);
    expect(new Set(await types())).toEqual(new Set(['sweeps/look', 'sweeps/chores']));
    await other.sql(
      `update application_token set created_at = now() - interval '83 days', expires_at = now() + interval '1 day'
       where id = ?`,
      [id],
    );
    await eventually(types, (seen) => seen.includes('sweep/expiring-application-tokens'));
    expect(new Set(await types())).toEqual(
      new Set(['sweeps/look', 'sweeps/chores', 'sweep/expiring-application-tokens']),
    );
  } finally {
    await worker.stop();
    await handle.terminate();
    await other.close();
  }
});

test('a sweep that fails as a whole is seen, tried again, and keeps no other from its turn', async () => {
  const broken = await testApp({ env: PACE });
  let worker: TestWorker | undefined;
  try {
    await broken.sql('alter table build_preview rename to build_preview_gone');
    worker = await startWorker(broken, ['system-v1']);
    const handle = client.workflow.getHandle(sweeperId(broken.queuePrefix));
    const errors = async () => (await completed(broken.queuePrefix)).map(({ result }) => result.errors ?? {});
    const seen = await eventually(errors, (found) => found.filter((each) => 'build-impacts' in each).length >= 2);
    expect(Object.assign({}, ...seen)).toEqual({ 'build-impacts': 'relation "build_preview" does not exist' });
    expect(times(await passes(broken.queuePrefix), 'webhook-lanes')).toBeGreaterThanOrEqual(2);
    const details = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    expect(details.currentDetails).toContain('- build-impacts: relation "build_preview" does not exist');
    await broken.sql('alter table build_preview_gone rename to build_preview');
  } finally {
    await worker?.stop();
    await client.workflow.getHandle(sweeperId(broken.queuePrefix)).terminate();
    await broken.close();
  }
});
