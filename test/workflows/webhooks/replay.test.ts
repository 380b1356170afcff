import { readFileSync, writeFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { webhookLaneContract } from '../../../workflows/webhooks/webhook-lane.contract.ts';
import { testApp } from '../../support/app.ts';
import { eventually, startWorker } from '../../support/worker.ts';
import { webhookReceiver } from '../../simulators/webhook-receiver.ts';

const HISTORY = new URL('../histories/webhook-lane.json', import.meta.url);

test('a lane that is under way goes on with the code of today', async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const workflowBundle = { codePath: process.env.QS_TEST_BUNDLE ?? '' };
  await Worker.runReplayHistory({ workflowBundle }, JSON.parse(readFileSync(HISTORY, 'utf8')));
});

/**
 * Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/webhooks/replay`. A delivery fails, its retry
 * is too far away for the pump to wait, a wake comes meanwhile, the lane completes.
 */
(process.env.RECORD_HISTORIES ? test : test.skip)('records the history', async () => {
  const app = await testApp();
  const receiver = await webhookReceiver();
  const worker = await startWorker(app, ['webhooks-v1']);
  const connection = await Connection.connect({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '' });
  try {
    const { id } = await app.as(app.owner).post(201, '/api/webhooks', { name: 'a', event: 'recorded', retryDelay: 70_000, config: { url: receiver.url } });
    const trigger = () => app.as(app.application).post(202, '/api/webhooks/trigger', { event: 'recorded', payload: {} });
    receiver.answer(503);
    await trigger();
    const handle = new Client({ connection }).workflow.getHandle(webhookLaneContract.workflowId({ tenantId: app.tenant.id, webhookId: id }));
    const hasTimer = async () => (await handle.fetchHistory()).events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes) ?? false;
    await eventually(hasTimer, Boolean, 60_000);
    receiver.answer(200);
    await trigger();
    await eventually(async () => (await handle.describe()).status.name, (name) => name === 'COMPLETED', 180_000);
    writeFileSync(HISTORY, historyToJSON(await handle.fetchHistory()).replace(/("identity": *)"[^"]*"/g, '$1"worker"'));
  } finally {
    await worker.kill('SIGTERM');
    await connection.close();
    await receiver.close();
    await app.close();
  }
}, 300_000);
