import type { Answer } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { insertLockTickets, lease } from '../../../support/factories.ts';
import { engineAway } from '../../../support/launch.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

let app: TestApp;
beforeAll(async () => {
  // The workers reach the engine; they come when it is back.
  app = await testApp({ launch: engineAway, env: { SERVICE_PACE: '0.1' } });
});
afterAll(() => app.close());

test('with the engine away no lock is half taken, what is held can be given back, and the line goes on when it returns', async () => {
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: 'acme/shop', platform: 'host-a' });
  const { id } = await owner.post(201, '/api/environments', {
    repositoryIdentifier: 'acme/shop',
    name: 'prod',
    category: 'release',
  });
  const path = `/api/environments/${id}/locks`;
  const [{ headers, body }] = (await Promise.all([1, 2].map(() => owner.request(503, 'POST', path, { body: {} })))) as [
    Answer,
    Answer,
  ];
  expect(body).toMatchObject({ code: 'unavailable' });
  expect(headers.get('retry-after')).toBeTruthy();
  await expect(owner.get(200, path)).resolves.toMatchObject({ isLocked: false, total: 0 });
  // Both asked with one ticket, unless the first was given back before the second came.
  await expect(app.sql('select distinct state from environment_lock_ticket')).resolves.toEqual([
    { state: 'withdrawn' },
  ]);

  // As if they had been taken before the engine went away; the last one's request died before its turn.
  const createdAt = new Date(Date.now() - 60_000);
  const [held, queued, asked] = await insertLockTickets(app, id, [
    { createdAt, state: 'held', ...lease(new Date()) },
    { createdAt, state: 'queued' },
    { createdAt, state: 'asked' },
  ]);
  await owner.delete(204, `${path}/${held}`);
  await expect(owner.get(200, path)).resolves.toMatchObject({ isLocked: false, tickets: [{ ticketId: queued }] });

  const worker = await startWorker(app, ['environment-locks-v1', 'system-v1']);
  await eventually(
    () => owner.get(200, `${path}/${queued}`),
    ({ state }) => state === 'held',
  );
  await eventually(
    () => owner.get(200, `${path}/${asked}`),
    ({ state }) => state === 'withdrawn',
  );
  await worker.stop();
});
