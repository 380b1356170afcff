import pg from 'pg';
import { onRepository, reportedProject } from '../../../support/ai-reports.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { refresh, settled, useModel } from '../../../support/model-reports.ts';
import { eventually, startWorker, startWorkerProcess } from '../../../support/worker.ts';
import { type ModelSimulator, modelSimulator } from '../../../simulators/models/simulator.ts';

let app: TestApp;
let models: ModelSimulator;
beforeAll(async () => {
  models = await modelSimulator();
  app = await testApp();
  await useModel(app, models);
});
afterAll(async () => {
  await app.close();
  await models.close();
});

test('reports of a killed worker are completed by another: a broken stream is asked for again, an answer is not', async () => {
  const [dying, asking, answered] = await Promise.all([
    startWorkerProcess(app, ['ai-v1']),
    reportedProject(app),
    reportedProject(app),
  ]);
  models.next({ kind: 'trickle', everyMs: 50 });
  await refresh(app, asking);
  await eventually(
    async () => models.requests.length,
    (count) => count === 1,
  );
  const holder = new pg.Client(app.env.DATABASE_URL);
  await holder.connect();
  try {
    const { taskExecutionId } = await refresh(app, answered);
    // Its publication waits for this.
    const key = `ai-report/${app.tenant.id}/${answered.id}/main/repository/repository`;
    await holder.query('select pg_advisory_lock(hashtextextended($1, 16))', [key]);
    await eventually(
      () => app.sql('select from ai_report where id = ? and findings is not null', [taskExecutionId]),
      (rows) => rows.length === 1,
    );
    await dying.kill('SIGKILL');
  } finally {
    await holder.end();
  }
  const worker = await startWorker(app, ['ai-v1']);
  try {
    for (const project of [asking, answered])
      await expect(settled(project)).resolves.toMatchObject({ status: 'completed' });
    expect(models.requests).toHaveLength(3);
    const [{ usage }] = await answered.get('/history', onRepository);
    expect(usage.output).toBeGreaterThan(0);
  } finally {
    await worker.stop();
  }
});
