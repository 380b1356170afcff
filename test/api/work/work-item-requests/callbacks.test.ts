import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { idleEngine } from '../../../support/launch.ts';
import { CALLBACK, REQUESTS, requestsOf } from '../../../support/work-item-requests.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const taskType = 'install-packages';

test('a callback adds a request that nobody knows, and later ones change it', async () => {
  const { projectIdentifier, callback, only } = await requestsOf(app);
  await callback('started', {
    taskType,
    workItemKey: '#12',
    executionId: 'job-1',
    workItemUrl: 'https://host-a.example/acme/storefront/issues/12',
    releaseCandidate: 'sales:2026.03',
    occurredAt: '2026-03-02T09:30:00Z',
  });
  const request = await only();
  expect(request).toEqual({
    id: expect.any(String),
    platform: 'host-a',
    projectIdentifier,
    repositoryIdentifier: projectIdentifier,
    workItemKey: '12',
    workItemUrl: 'https://host-a.example/acme/storefront/issues/12',
    title: null,
    taskType,
    releaseCandidate: 'sales:2026.03',
    createdBy: expect.stringMatching(/^app:/),
    status: 'in_progress',
    executionId: 'job-1',
    execution: null,
    startedAt: '2026-03-02T09:30:00.000Z',
    completedAt: null,
    message: null,
    error: null,
    result: null,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    history: [
      {
        event: 'started',
        executionId: 'job-1',
        occurredAt: '2026-03-02T09:30:00.000Z',
        receivedAt: expect.any(String),
        message: null,
      },
    ],
  });
  await callback('failed', { executionId: 'job-1', message: 'no space left', error: 'ENOSPC', result: { step: 3 } });
  expect(await only()).toMatchObject({
    id: request.id,
    status: 'failed',
    message: 'no space left',
    error: 'ENOSPC',
    result: { step: 3 },
    completedAt: expect.any(String),
  });
});

test('a request is found by its id, its execution, its work item and type, or its work item alone', async () => {
  const { callback, list, only } = await requestsOf(app);
  await callback('started', { taskType, executionId: 'job-1' });
  const { id } = await only();
  await callback('completed', { workItemKey: '99', requestId: id });
  expect(await only()).toMatchObject({ id, status: 'completed', workItemKey: '12' });
  await callback('started', { taskType, executionId: 'job-2' });
  await callback('failed', { workItemKey: '99', executionId: 'job-2' });
  expect(await only()).toMatchObject({ id, status: 'failed' });
  await callback('started', { executionId: 'job-3' });
  expect(await only()).toMatchObject({ id, status: 'in_progress', executionId: 'job-3' });
  await callback('started', { taskType: 'run-apex-tests', executionId: 'job-4' });
  await callback('started', { workItemKey: '13', requestId: newId() });
  const { items, total } = await list();
  expect(total).toBe(3);
  expect(items.map((item: { workItemKey: string; taskType: string }) => [item.workItemKey, item.taskType])).toEqual([
    ['13', null],
    ['12', 'run-apex-tests'],
    ['12', taskType],
  ]);
  // One without a type becomes one of the type that is named first.
  await callback('completed', { workItemKey: '13', taskType });
  expect((await list()).items[0]).toMatchObject({ workItemKey: '13', taskType, status: 'completed' });
});

test('the same callback tenfold at once is one event, one audit entry and one request', async () => {
  const { projectIdentifier, callback, only } = await requestsOf(app);
  const webhook = await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'requests',
    event: 'work_item_request.updated',
    config: { url: 'http://127.0.0.1:9/' },
  });
  await Promise.all(Array.from({ length: 10 }, () => callback('started', { taskType, executionId: 'job-1' })));
  await Promise.all(Array.from({ length: 10 }, () => callback('completed', { taskType, executionId: 'job-1' })));
  const { id, history } = await only();
  expect(history).toHaveLength(2);
  const query = new URLSearchParams({ action: 'work_item_request.updated', repositoryIdentifier: projectIdentifier });
  const { items } = await app.as(app.owner).get(200, `/api/audit?${query}`);
  expect(items.map((entry: { after: unknown }) => entry.after)).toEqual([
    { event: 'completed', executionId: 'job-1', status: 'completed', error: null },
    { event: 'started', executionId: 'job-1', status: 'in_progress', error: null },
  ]);
  expect(items[0]).toMatchObject({ source: 'integration', entityType: 'work_item_request', entityId: id });
  const announced = await app.sql<{ data: object }>(
    'select payload as data from webhook_delivery where webhook_id = ? order by created_at, id',
    [webhook.id],
  );
  expect(announced.map(({ data }) => data)).toEqual([
    expect.objectContaining({
      status: 'in_progress',
      previousStatus: null,
      project: projectIdentifier,
      workItemId: '12',
    }),
    expect.objectContaining({ status: 'completed', previousStatus: 'in_progress', taskType }),
  ]);
});

test('callbacks in another order, each tenfold and at once, end the same', async () => {
  const occurredAt = (minute: number) => `2026-03-02T09:${minute}:00Z`;
  const reports = [
    ['started', 'a', 10],
    ['failed', 'a', 20],
    ['started', 'b', 30],
    ['completed', 'a', 35],
    ['completed', 'b', 40],
    ['started', 'c', 50],
  ] as const;
  const { callback, only } = await requestsOf(app);
  const send = ([event, executionId, minute]: (typeof reports)[number]) =>
    callback(event, { taskType, executionId, occurredAt: occurredAt(minute), message: `${executionId} ${event}` });
  for (const report of reports) await send(report);
  const shownOf = ({ history, status, executionId, message, startedAt }: Json) => ({
    status,
    executionId,
    message,
    startedAt,
    history: history.map(({ receivedAt: _, ...event }: Json) => event),
  });
  const expected = shownOf(await only());
  expect(expected).toMatchObject({ status: 'in_progress', executionId: 'c' });
  const shuffled = await requestsOf(app);
  const tenfold = Array.from({ length: 10 }, (_, n) => (n % 2 ? reports.toReversed() : reports)).flat();
  await Promise.all(
    tenfold.map(([event, executionId, minute]) =>
      shuffled.callback(event, {
        taskType,
        executionId,
        occurredAt: occurredAt(minute),
        message: `${executionId} ${event}`,
      }),
    ),
  );
  expect(shownOf(await shuffled.only())).toEqual(expected);
});

test('what is malformed, hostile or foreign is refused', async () => {
  const { callback, list } = await requestsOf(app);
  const bad = (more: Record<string, unknown>) => callback('started', more, { status: 400 });
  expect(await bad({ projectIdentifier: 'acme/unknown' })).toMatchObject({
    errors: [{ pointer: '#/body/projectIdentifier' }],
  });
  expect(await bad({ occurredAt: new Date(Date.now() + 11 * 60_000).toISOString() })).toMatchObject({
    errors: [{ pointer: '#/body/occurredAt' }],
  });
  for (const workItemKey of ['../x', '../../../other/secret/issues/7', '1?x', '1/lock', '%2e%2e', 'acme/platform#12'])
    expect(await bad({ workItemKey })).toMatchObject({ errors: [{ pointer: '#/body/workItemKey' }] });
  await bad({ event: 'finished' });
  await bad({ platform: 'host-c' });
  await bad({ message: 'a\u0000b' });
  await bad({ workItemUrl: 'javascript:alert(1)' });
  expect(await bad({ result: { text: 'x'.repeat(65_536) } })).toMatchObject({ errors: [{ pointer: '#/body/result' }] });
  await bad({ message: 'x'.repeat(1_048_576) });
  await callback('started', {}, { status: 403, as: app.member });
  await callback('started', {}, { status: 400, as: app.strangerApplication });
  expect((await list()).total).toBe(0);
});

test('a request of one platform takes no work item of another', async () => {
  const { callback, only } = await requestsOf(app);
  await callback('started', { taskType });
  const { id } = await only();
  await app.sql('update work_item_request set work_item_key = null where id = ?', [id]);
  await callback('completed', { requestId: id, platform: 'tracker-a', workItemKey: 'SHOP-1' });
  expect(await only()).toMatchObject({ status: 'completed', workItemKey: null });
});

test('requests of other tenants and projects are not there', async () => {
  const [one, other] = [await requestsOf(app), await requestsOf(app)];
  await one.callback('started', { taskType });
  await other.callback('started', { taskType });
  const { id } = await one.only();
  await app.as(app.stranger).get(404, `${REQUESTS}/${id}`);
  const { token } = await app
    .as(app.owner)
    .post(201, '/api/application-tokens', { name: `limited-${newId()}`, projects: [other.projectIdentifier] });
  const limited = app.as({ token });
  await limited.get(404, `${REQUESTS}/${id}`);
  expect(await limited.get(200, REQUESTS)).toMatchObject({ total: 1 });
  await limited.get(400, `${REQUESTS}?projectIdentifier=${encodeURIComponent(one.projectIdentifier)}`);
  const body = { event: 'failed', platform: 'host-a', workItemKey: '12' };
  await limited.post(400, CALLBACK, { ...body, projectIdentifier: one.projectIdentifier });
  // An id of another project finds nothing: the work item of its own does.
  await limited.post(204, CALLBACK, { ...body, projectIdentifier: other.projectIdentifier, requestId: id });
  expect(await one.only()).toMatchObject({ status: 'in_progress' });
  expect(await other.only()).toMatchObject({ status: 'failed' });
});
