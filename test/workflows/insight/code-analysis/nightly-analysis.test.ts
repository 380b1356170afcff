import { nightlyAnalysisId } from '../../../../workflows/insight/code-analysis/nightly-analysis.contract.ts';
import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const client = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  app = await testApp();
  worker = await startWorker(app, ['system-v1', 'flows-v1', 'analysis-v1']);
});
afterAll(async () => {
  await worker.stop();
  await client.schedule
    .getHandle(nightlyAnalysisId(app.env.TASK_QUEUE_PREFIX ?? ''))
    .delete()
    .catch(() => undefined);
  await client.connection.close();
  await app.close();
});

test('one schedule begins the night, in which the branches that were asked for are analysed', async () => {
  const handle = client.schedule.getHandle(nightlyAnalysisId(app.env.TASK_QUEUE_PREFIX ?? ''));
  const { spec, policies } = await eventually(
    () => handle.describe().catch(() => undefined),
    (described) => described !== undefined,
  ).then((described) => described ?? { spec: undefined, policies: undefined });
  expect(spec?.calendars).toMatchObject([{ hour: [{ start: 3, end: 3 }], minute: [{ start: 0, end: 0 }] }]);
  expect(policies?.overlap).toBe('SKIP');
  const identifier = 'acme/nightly';
  const { id } = await app.as(app.owner).post(201, '/api/projects', { identifier, platform: 'host-a' });
  await app.sql(
    `insert into git_ref (tenant_id, project_id, kind, name, sha) select tenant_id, id, 'branch', 'main', repeat('a', 40) from project where id = ?`,
    [id],
  );
  await app.sql(
    `insert into code_analysis_schedule (tenant_id, project_id, branch) select tenant_id, id, 'main' from project where id = ?`,
    [id],
  );
  await client.workflow.execute('nightlyAnalysis', {
    workflowId: `${app.env.TASK_QUEUE_PREFIX}-night`,
    taskQueue: `${app.env.TASK_QUEUE_PREFIX}system-v1`,
    args: [{ pauseMs: 100 }],
  });
  const [run] = await eventually(
    () =>
      app.sql<{ id: string; error: string }>(
        'select id, error from flow_run where is_scheduled and ended_at is not null',
      ),
    (rows) => rows.length > 0,
  );
  expect(run?.error).toBe('The project acme/nightly has no remoteUrl');
});
