import { metricsLaneContract } from '../../../../workflows/insight/metrics/metrics-lane.contract.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

test('a lane that is under way goes on with the code of today', () => replay('metrics-lane'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/insight/metrics/replay`. */
recording('records the history', async ({ keep }) => {
  const app = await testApp({ hasOwnTenants: true });
  const worker = await startWorker(app, ['system-v1']);
  const ingest = () =>
    app.as(app.application).post(202, '/api/metrics/ingest', { events: [{ metric: 'deploy.count', type: 'count' }] });
  try {
    await ingest();
    await eventually(
      () => app.sql('select from metric_window where not is_sent'),
      (rows) => rows.length === 0,
    );
    await ingest();
    await keep('metrics-lane', app.launch.idOf(metricsLaneContract, {}));
  } finally {
    await worker.stop();
    await app.close();
  }
});
