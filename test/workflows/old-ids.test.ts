import { createTemporalClient } from '../../workflows/temporal-client.ts';
import { endWorkflowsOfOldIds } from '../../workflows/temporal-sweeper.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { eventually } from '../support/worker.ts';

const client = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(async () => {
  await client.connection.close();
  await app.close();
});

test('workflows whose ids end with the whole UUID of a row are ended, those of today and of old runs go on', async () => {
  const uuid = '01a21bb8-4a31-71d5-a8d1-956e0ab1c2d3';
  const started = async (key: string) => {
    const workflowId = `${app.queuePrefix}:acme/${key}`;
    const args = [{ ...app.tenantKey, exportId: uuid }];
    await client.workflow.start('auditExport', { workflowId, taskQueue: `${app.queuePrefix}audit-v1`, args });
    return client.workflow.getHandle(workflowId);
  };
  const old = await Promise.all([`git-mirror/acme/shop/${uuid}`, `approval/${uuid}`].map(started));
  const todays = await Promise.all([`flow/build/${uuid}`, 'git-mirror/acme/shop/956e0ab1c2d3'].map(started));
  const statusOf = async (handle: (typeof old)[number]) => (await handle.describe()).status.name;
  // The lists of Temporal lag behind a little.
  await eventually(
    async () => {
      await endWorkflowsOfOldIds(client, app.queuePrefix);
      return Promise.all(old.map(statusOf));
    },
    (statuses) => statuses.every((status) => status === 'TERMINATED'),
  );
  expect(await Promise.all(todays.map(statusOf))).toEqual(['RUNNING', 'RUNNING']);
  await Promise.all(todays.map((handle) => handle.terminate()));
});
