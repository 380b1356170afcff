import { sweeperId } from '../../../../workflows/kernel/system/sweeper.contract.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

test('the sweeper goes on with the code of today', () => replay('sweeper'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/kernel/system/replay`. Several passes, one of which fails. */
recording('records the history', async ({ handleOf, keep }) => {
  const app = await testApp();
  await app.sql('alter table build_preview rename to build_preview_gone');
  const worker = await startWorker(app, ['system-v1']);
  try {
    const handle = handleOf(sweeperId(app.queuePrefix));
    const { runId } = (await handle.describe()) as { runId: string };
    await eventually(
      async () => (await handle.describe()).historyLength,
      (length) => length >= 150,
    );
    await handle.terminate();
    await keep('sweeper', sweeperId(app.queuePrefix), runId);
  } finally {
    await worker.stop();
    await app.close();
  }
});
