import { laneNameOf } from '../../../../domain/events/webhooks/lane-name-rules.ts';
import { webhookLaneContract } from '../../../../workflows/events/webhooks/webhook-lane.contract.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { eventually, startWorker } from '../../../support/worker.ts';
import { webhookReceiver } from '../../../simulators/webhook-receiver.ts';

test('a lane that is under way goes on with the code of today', () => replay('webhook-lane'));

/**
 * Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/events/webhooks/replay`. A delivery fails, its retry
 * is too far away for the pump to wait, a wake comes meanwhile, the lane completes.
 */
recording('records the history', async ({ handleOf, keep }) => {
  const app = await testApp();
  const receiver = await webhookReceiver();
  const worker = await startWorker(app, ['webhooks-v1']);
  try {
    const { id } = await app
      .as(app.owner)
      .post(201, '/api/webhooks', { name: 'a', event: 'recorded', retryDelay: 70_000, config: { url: receiver.url } });
    const trigger = () =>
      app.as(app.application).post(202, '/api/webhooks/trigger', { event: 'recorded', payload: {} });
    receiver.answer(503);
    await trigger();
    const workflowId = app.launch.idOf(webhookLaneContract, {
      ...app.tenantKey,
      webhookId: id,
      laneName: laneNameOf({ name: 'a', id }),
    });
    const handle = handleOf(workflowId);
    const hasTimer = async () => {
      const history = await handle.fetchHistory().catch(() => undefined);
      return history?.events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes) ?? false;
    };
    await eventually(hasTimer, Boolean);
    receiver.answer(200);
    await trigger();
    await keep('webhook-lane', workflowId);
  } finally {
    await worker.stop();
    await receiver.close();
    await app.close();
  }
});
