import { setTimeout as sleep } from 'node:timers/promises';
import { type TestApp, testApp } from '../../../support/app.ts';
import { insertLockTickets } from '../../../support/factories.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorker } from '../../../support/worker.ts';

/** So much later than it is due a timer may fire. */
const TIMER_LATE_MAX_MS = 1_000;

let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  app = await testApp();
  worker = await startWorker(app, ['environment-locks-v1', 'system-v1']);
  await app.as(app.owner).post(201, '/api/projects', { identifier: 'acme/shop', platform: 'host-a' });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});

let made = 0;
/** An environment of its own, so that tests do not meet. */
async function environment() {
  const { id } = await app
    .as(app.owner)
    .post(201, '/api/environments', { repositoryIdentifier: 'acme/shop', name: `e${++made}`, category: 'test' });
  const path = `/api/environments/${id}/locks`;
  return {
    id: id as string,
    path,
    ask: (caller: Bearer, body: object = {}, status = 201): Promise<Json> => app.as(caller).post(status, path, body),
    line: async (): Promise<Json> => app.as(app.member).get(200, path),
    ticket: (ticketId: string): Promise<Json> => app.as(app.member).get(200, `${path}/${ticketId}`),
    giveBack: (caller: Bearer, ticketId: string, status = 204) => app.as(caller).delete(status, `${path}/${ticketId}`),
    extend: (caller: Bearer, ticketId: string, body: object, status = 200): Promise<Json> =>
      app.as(caller).post(status, `${path}/${ticketId}/extend`, body),
    becomes: (ticketId: string, state: string) =>
      eventually(
        () => app.as(app.member).get(200, `${path}/${ticketId}`),
        (ticket) => ticket.state === state,
      ),
  };
}

test('the lock goes from ticket to ticket in the order of asking', async () => {
  const { id, ask, line, giveBack, becomes } = await environment();
  const first = await ask(app.owner, { reason: 'deployment' });
  expect(first).toMatchObject({
    state: 'held',
    position: 0,
    estimatedWaitSeconds: 0,
    heldBy: app.owner.email,
    reason: 'deployment',
    leaseMinutes: 30,
  });
  const second = await ask(app.member);
  const third = await ask(app.application, { executionId: 'build-1' });
  expect([second.position, second.state, second.estimatedWaitSeconds]).toEqual([1, 'queued', null]);
  expect([third.position, third.state, third.heldBy]).toEqual([2, 'queued', 'app:ci']);
  await expect(line()).resolves.toMatchObject({
    isLocked: true,
    total: 3,
    tickets: [first, second, third].map(({ ticketId }) => ({ ticketId })),
  });
  await expect(app.as(app.member).get(200, `/api/environments/${id}`)).resolves.toMatchObject({
    lockStatus: {
      isLocked: true,
      ticketId: first.ticketId,
      heldBy: app.owner.email,
      waiting: 2,
      expiresAt: first.expiresAt,
    },
  });

  await giveBack(app.owner, first.ticketId);
  await becomes(second.ticketId, 'held');
  await giveBack(app.member, second.ticketId);
  await expect(becomes(third.ticketId, 'held')).resolves.toMatchObject({ position: 0 });
  await giveBack(app.application, third.ticketId);
  await giveBack(app.application, third.ticketId);
  await expect(line()).resolves.toMatchObject({ isLocked: false, total: 0, tickets: [] });
  const [list] = await app.as(app.member).get(200, '/api/environments?repositoryIdentifier=acme/shop');
  expect(list.lockStatus).toMatchObject({ isLocked: false, ticketId: null, waiting: 0 });
});

test('who asks again gets the same ticket; another execution of theirs is another holder', async () => {
  const { ask } = await environment();
  const first = await ask(app.owner);
  await expect(ask(app.owner, { reason: 'again' }, 200)).resolves.toMatchObject({
    ticketId: first.ticketId,
    reason: null,
    state: 'held',
  });
  const other = await ask(app.owner, { executionId: 'run-1' });
  expect(other.ticketId).not.toBe(first.ticketId);
  await expect(ask(app.owner, { executionId: 'run-1' }, 200)).resolves.toMatchObject({
    ticketId: other.ticketId,
    state: 'queued',
  });
});

test('twenty that ask at once make one line, in which each has its place', async () => {
  const { ask, line } = await environment();
  const tickets = await Promise.all(
    Array.from({ length: 20 }, (_, index) => ask(app.application, { executionId: `run-${index}` })),
  );
  expect(tickets.filter(({ state }) => state === 'held')).toHaveLength(1);
  const { tickets: placed } = await line();
  expect(placed.map(({ position }: Json) => position)).toEqual(Array.from({ length: 20 }, (_, index) => index));
});

test('the same holder ten times at once has one ticket', async () => {
  const { path } = await environment();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => app.as(app.member).send('POST', path, { body: {} })),
  );
  expect(new Set(answers.map(({ body }) => body.ticketId)).size).toBe(1);
  expect(answers.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1);
});

test('a holder that dies loses the lock to the next when its lease runs out', async () => {
  const { ask, becomes, giveBack, extend } = await environment();
  const first = await ask(app.owner, { leaseMinutes: 0.02 });
  const second = await ask(app.member);
  await becomes(second.ticketId, 'held');
  await expect(becomes(first.ticketId, 'expired')).resolves.toMatchObject({ position: null });
  await expect(extend(app.owner, first.ticketId, {}, 409)).resolves.toMatchObject({ code: 'invalid_transition' });
  await giveBack(app.owner, first.ticketId);
  await expect(ask(app.owner)).resolves.toMatchObject({ state: 'queued' });
});

test('a lease that is extended goes on; only who holds it may do so, or an owner', async () => {
  const { path, ask, extend, ticket, giveBack } = await environment();
  const { held, extended } = await extendedBeforeItsEnd();
  expect(Date.parse(extended.expiresAt) - Date.parse(held.expiresAt)).toBeGreaterThan(3_500_000);
  await extend(app.member, held.ticketId, {}, 403);
  await giveBack(app.member, held.ticketId, 403);
  const waiting = await ask(app.member);
  await extend(app.member, waiting.ticketId, {}, 409);
  // The timer of the first lease has fired by the time that another asks.
  await sleep(Date.parse(held.expiresAt) + TIMER_LATE_MAX_MS - Date.now());
  await ask(app.owner, { executionId: 'run-1' });
  await expect(ticket(held.ticketId)).resolves.toMatchObject({ state: 'held' });
  await giveBack(app.owner, held.ticketId);

  /** On a slow machine a lease is over before it is extended; the next is longer. */
  async function extendedBeforeItsEnd(leaseMinutes = 0.03): Promise<{ held: Json; extended: Json }> {
    const asked = await ask(app.application, { leaseMinutes, executionId: `for-${leaseMinutes}` });
    const { status, body } = await app
      .as(app.application)
      .send('POST', `${path}/${asked.ticketId}/extend`, { body: { leaseMinutes: 60 } });
    if (status === 200) return { held: asked, extended: body };
    expect(status).toBe(409);
    return extendedBeforeItsEnd(leaseMinutes * 2);
  }
});

test('who leaves the line lets the others move up', async () => {
  const { ask, giveBack, ticket, becomes } = await environment();
  const first = await ask(app.owner);
  const second = await ask(app.member);
  const third = await ask(app.application);
  await giveBack(app.member, second.ticketId);
  await expect(ticket(third.ticketId)).resolves.toMatchObject({ position: 1 });
  await expect(ticket(second.ticketId)).resolves.toMatchObject({ state: 'withdrawn', position: null });
  await giveBack(app.owner, first.ticketId);
  await becomes(third.ticketId, 'held');
});

test('the wait is estimated from past holds', async () => {
  const { id, ask } = await environment();
  const first = await ask(app.owner);
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const past = [1, 2, 3, 4, 5].map((minutes) => ({
    state: 'released' as const,
    heldAt: minutesAgo(minutes + 10),
    endedAt: minutesAgo(10),
  }));
  await insertLockTickets(app, id, past);
  const heldSeconds = () => (Date.now() - Date.parse(first.heldAt)) / 1_000;
  for (const [caller, seconds] of [
    [app.member, 180],
    [app.application, 360],
  ] as const) {
    const before = heldSeconds();
    const { estimatedWaitSeconds } = await ask(caller);
    // It shrinks while the lock is held.
    expect(estimatedWaitSeconds).toBeGreaterThanOrEqual(seconds - heldSeconds() - 1);
    expect(estimatedWaitSeconds).toBeLessThanOrEqual(seconds - before + 1);
  }
  expect(first.estimatedWaitSeconds).toBe(0);
});

test('subscribers and the trail are told who locked and who unlocked', async () => {
  const { id, ask, giveBack, becomes } = await environment();
  const owner = app.as(app.owner);
  const webhook = (event: string) =>
    owner.post(201, '/api/webhooks', {
      name: event,
      event,
      config: { url: 'http://127.0.0.1:9/', filter: { 'data.environmentId': id } },
    });
  await webhook('environment.locked');
  await webhook('environment.unlocked');
  const first = await ask(app.member, { reason: 'deployment', executionId: 'run-7' });
  await giveBack(app.member, first.ticketId);
  await becomes(first.ticketId, 'released');
  const told = await app.sql<{ event: string; payload: object }>(
    `select event, payload from webhook_delivery where payload->>'environmentId' = ? order by created_at, id`,
    [id],
  );
  expect(told).toMatchObject([
    {
      event: 'environment.locked',
      payload: {
        ticketId: first.ticketId,
        holder: app.member.email,
        executionId: 'run-7',
        reason: 'deployment',
        repositoryIdentifier: 'acme/shop',
      },
    },
    { event: 'environment.unlocked', payload: { ticketId: first.ticketId } },
  ]);
  const trail = await app.sql<{ action: string }>(
    'select action from audit_entry where entity_id = ? and action like ? order by sequence',
    [id, 'environment.%lock%'],
  );
  expect(trail.map(({ action }) => action)).toEqual([
    'environment.lock_requested',
    'environment.locked',
    'environment.unlocked',
  ]);
});

test('a worker that is killed while a line waits loses nothing of it', async () => {
  await worker.stop();
  const dying = await startWorkerProcess(app, ['environment-locks-v1', 'system-v1']);
  const { ask, giveBack, becomes, line } = await environment();
  const tickets = [];
  for (let index = 0; index < 5; index++) tickets.push(await ask(app.application, { executionId: `run-${index}` }));
  const [first, ...others] = tickets;
  await dying.kill('SIGKILL');
  await giveBack(app.application, first.ticketId);
  await expect(line()).resolves.toMatchObject({ isLocked: false, total: 4 });
  worker = await startWorker(app, ['environment-locks-v1', 'system-v1']);
  for (const { ticketId } of others) {
    await becomes(ticketId, 'held');
    await giveBack(app.application, ticketId);
  }
  const holds = await app.sql<{ execution_id: string }>(
    `select execution_id from environment_lock_ticket where id = any (?::uuid[]) order by held_at`,
    [`{${tickets.map(({ ticketId }) => ticketId).join(',')}}`],
  );
  expect(holds.map(({ execution_id }) => execution_id)).toEqual(tickets.map((_, index) => `run-${index}`));
});
