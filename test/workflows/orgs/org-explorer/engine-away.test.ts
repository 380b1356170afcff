import { crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import { testApp } from '../../../support/app.ts';
import { exploredOrg, EXPLORER, settled } from '../../../support/explorer.ts';
import { engineAway } from '../../../support/launch.ts';
import { startWorker } from '../../../support/worker.ts';

test('a refresh that is asked for while the engine is away runs when it is back', async () => {
  const crm = await crmSimulator([]);
  const app = await testApp({ launch: engineAway });
  const explored = await exploredOrg(app, crm);
  explored.org.metadata.write('classes/A.cls', 'a');
  const { jobId } = await app.as(app.owner).post(202, `${EXPLORER}/metadata/refresh`, explored.place);
  await app.sql(`update org_sync set updated_at = updated_at - interval '1 minute' where id = ?`, [jobId]);
  const worker = await startWorker(app, ['crm-v1', 'system-v1']);
  try {
    expect(await settled(app, explored)).toMatchObject({
      status: 'available',
      data: { lastSync: { jobId, status: 'succeeded', filesRetrieved: 2 } },
    });
  } finally {
    await worker.stop();
    await app.close();
    await crm.close();
  }
});
