import { startApi } from '../../../support/api-process.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { EventStream } from '../../../support/event-stream.ts';
import { eventually } from '../../../support/eventually.ts';
import { startWorkerProcess } from '../../../support/worker.ts';
import { webhookReceiver } from '../../../simulators/webhook-receiver.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8' } });
});
afterAll(() => app.close());

test('what a worker commits arrives in an API', async () => {
  const receiver = await webhookReceiver();
  const owner = app.as(app.owner);
  const body = { name: 'hook', event: 'test.worker', config: { url: receiver.url } };
  const { id } = await owner.post(201, '/api/webhooks', body);
  const stream = await EventStream.open(app.url, '/api/changes?topics=webhook_delivery', app.owner);
  await owner.post(202, '/api/webhooks/trigger', { event: 'test.worker', payload: {} });
  // What the API itself has committed.
  await stream.named('webhook_delivery', id);
  const named = stream.changes.length;
  const worker = await startWorkerProcess(app, ['webhooks-v1', 'system-v1']);
  try {
    await eventually(
      async () => stream.changes.length,
      (count) => count > named,
    );
    await eventually(
      async () => receiver.requests.length,
      (count) => count === 1,
    );
  } finally {
    stream.close();
    await worker.kill('SIGTERM');
    await receiver.close();
  }
});

test('an API process that is told to stop says goodbye to its streams, and ends', async () => {
  const api = await startApi(app);
  const stream = await EventStream.open(api.url, '/api/changes', app.owner);
  const { id } = await app
    .as(app.owner)
    .post(201, '/api/projects', { identifier: 'acme/other-api', platform: 'host-a' });
  // The process beside it has committed this.
  await stream.named('project', id);
  const ended = api.kill('SIGTERM');
  expect((await stream.next('bye')).data).toEqual({ reason: 'stopping', retryWithinMs: 5_000 });
  await stream.ended();
  expect(await ended).toBe(0);
});
