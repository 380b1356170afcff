import { Client, Connection } from '@temporalio/client';
import { environmentLockContract } from '../../../../workflows/delivery/environment-locks/environment-lock.contract.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/shop';
const CALLERS = 20;
/** With the eighty that ask while it moves, the workflow continues as new three times even with the fewer. */
const TICKETS = process.env.DEEP_TESTS ? 500 : 160;
const HANDED_OVER = process.env.DEEP_TESTS ? 40 : 15;

let app: TestApp;
let worker: TestWorker;
let connection: Connection;
beforeAll(async () => {
  app = await testApp();
  worker = await startWorker(app, ['environment-locks-v1']);
  connection = await Connection.connect({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '' });
  await app.as(app.owner).post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
});
afterAll(async () => {
  await worker.stop();
  await connection.close();
  await app.close();
});

test(`${TICKETS} tickets keep their order while the workflow of the lock continues as new, again and again`, async () => {
  const client = app.as(app.application);
  const { id: environmentId } = await app
    .as(app.owner)
    .post(201, '/api/environments', { repositoryIdentifier, name: 'prod', category: 'release' });
  const path = `/api/environments/${environmentId}/locks`;
  // A busy machine may take longer than a request waits for the engine: the ticket is withdrawn, and asked for again.
  const ask = async (executionId: string): Promise<Json> => {
    for (;;) {
      const { status, body } = await client.send('POST', path, { body: { executionId } });
      if (status !== 503) {
        expect(status).toBe(201);
        return body;
      }
    }
  };
  const askAtOnce = (callers: number, times: number, name: string) =>
    Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        for (let index = 0; index < times; index++) await ask(`${name}-${caller}-${index}`);
      }),
    );
  const first = await ask('first');
  await askAtOnce(CALLERS, TICKETS / CALLERS, 'line');
  const { tickets, total } = await client.get(200, `${path}?limit=1000`);
  expect([total, tickets[0].ticketId]).toEqual([TICKETS + 1, first.ticketId]);

  const handedOver = tickets.slice(0, HANDED_OVER).map(({ ticketId }: Json) => ticketId);
  // Others ask meanwhile, so that some do at the moment of a continuation.
  const late = askAtOnce(4, 20, 'late');
  for (const ticketId of handedOver) {
    await eventually(
      () => client.get(200, `${path}/${ticketId}`),
      ({ state }) => state === 'held',
    );
    await client.delete(204, `${path}/${ticketId}`);
  }
  await late;
  const holds = await app.sql<{ id: string }>(
    'select id from environment_lock_ticket where held_at is not null and ended_at is not null order by held_at',
  );
  expect(holds.map(({ id }) => id)).toEqual(handedOver);
  const left = await client.get(200, `${path}?limit=1000`);
  expect(left.tickets.slice(0, TICKETS + 1 - HANDED_OVER).map(({ ticketId }: Json) => ticketId)).toEqual(
    tickets.slice(HANDED_OVER).map(({ ticketId }: Json) => ticketId),
  );

  const handle = new Client({ connection }).workflow.getHandle(
    app.launch.idOf(environmentLockContract, {
      ...app.tenantKey,
      environmentId,
      environmentName: 'prod',
      repositoryIdentifier,
    }),
  );
  const { historyLength, runId } = await handle.describe();
  const [started] = (await handle.fetchHistory()).events ?? [];
  const { continuedExecutionRunId } = started?.workflowExecutionStartedEventAttributes ?? {};
  expect(continuedExecutionRunId).toBeTruthy();
  expect(continuedExecutionRunId).not.toBe(runId);
  expect(historyLength).toBeLessThan(1_000);
});
