import { type TestApp, testApp } from '../../../support/app.ts';

const RECEIVER = 'http://127.0.0.1:9/hook';
let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const owner = () => app.as(app.owner);
const make = (more: object, status = 201) =>
  owner().post(status, '/api/webhooks', { name: 'board', config: { url: RECEIVER }, ...more });
const trigger = (event: string): Promise<{ providerDetails: { webhookId: string } }[]> =>
  owner().post(202, '/api/webhooks/trigger', { event, payload: {} });
const reached = async (event: string, ids: readonly string[]) => {
  const found = (await trigger(event)).map(({ providerDetails }) => providerDetails.webhookId);
  return ids.map((id) => found.filter((each) => each === id).length);
};
const pointers = (problem: { errors: { pointer: string }[] }) => problem.errors.map(({ pointer }) => pointer);

test('both views of what a webhook subscribes to', async () => {
  const one = await make({ event: 'release.published' });
  expect(one).toMatchObject({ event: 'release.published', events: ['release.published'] });
  const several = await make({ events: ['deployment.failed', 'release.*', 'deployment.failed'] });
  expect(several).toMatchObject({ event: 'deployment.failed', events: ['deployment.failed', 'release.*'] });
  const listed: { id: string }[] = await owner().get(200, '/api/webhooks');
  expect(listed.find(({ id }) => id === several.id)).toMatchObject({ events: ['deployment.failed', 'release.*'] });
});

test('events and groups reach the webhook once, others do not', async () => {
  const { id: names } = await make({ events: ['orders.made', 'orders.paid', 'stock.low'] });
  const { id: group } = await make({ events: ['orders.*'] });
  const { id: both } = await make({ events: ['orders.*', 'orders.made', 'stock.low'] });
  const { id: one } = await make({ event: 'orders.made' });
  const ids = [names, group, both, one];
  await expect(reached('orders.made', ids)).resolves.toEqual([1, 1, 1, 1]);
  await expect(reached('orders.lines.made', ids)).resolves.toEqual([0, 1, 1, 0]);
  await expect(reached('stock.low', ids)).resolves.toEqual([1, 0, 1, 0]);
  await expect(reached('ordersmade', ids)).resolves.toEqual([0, 0, 0, 0]);
  await expect(reached('stock.high', ids)).resolves.toEqual([0, 0, 0, 0]);
});

test('an event without a dot belongs to no group', async () => {
  const { id: group } = await make({ events: ['orders.*'] });
  const { id: both } = await make({ events: ['orders', 'orders.*'] });
  await expect(reached('orders', [group, both])).resolves.toEqual([0, 1]);
  await expect(reached('orders.made', [group, both])).resolves.toEqual([1, 1]);
});

test('events of the service and of documents reach their group, by their own names', async () => {
  const { id } = await make({ events: ['project.*', 'document.*'] });
  await owner().post(201, '/api/projects', { identifier: 'acme/events', platform: 'host-a' });
  await owner().post(201, '/api/doc-store/collections/notes/docs/a', { value: 1 });
  const sent = await app.sql<{ event: string }>('select event from webhook_delivery where webhook_id = ? order by id', [
    id,
  ]);
  expect(sent.map(({ event }) => event)).toEqual(['project.created', 'document.created']);
});

test('a change of events, status or existence is a change of what arrives', async () => {
  const { id } = await make({ event: 'shift.begun' });
  const patch = (change: object) => owner().patch(200, `/api/webhooks/${id}`, change);
  expect(await patch({ events: ['shift.ended', 'pause.*'] })).toMatchObject({
    event: 'shift.ended',
    events: ['shift.ended', 'pause.*'],
  });
  const arrivals = async () => [
    ...(await reached('shift.begun', [id])),
    ...(await reached('shift.ended', [id])),
    ...(await reached('pause.begun', [id])),
  ];
  await expect(arrivals()).resolves.toEqual([0, 1, 1]);
  await patch({ name: 'renamed' });
  await expect(arrivals()).resolves.toEqual([0, 1, 1]);
  await patch({ status: 'inactive' });
  await expect(arrivals()).resolves.toEqual([0, 0, 0]);
  expect(await patch({ status: 'active', event: 'shift.begun' })).toMatchObject({ events: ['shift.begun'] });
  await expect(arrivals()).resolves.toEqual([1, 0, 0]);
  await owner().delete(204, `/api/webhooks/${id}`);
  await expect(arrivals()).resolves.toEqual([0, 0, 0]);
});

test('a group is tested with an event of it', async () => {
  const { id } = await make({ events: ['release.*'] });
  await expect(owner().post(202, `/api/webhooks/${id}/test`)).resolves.toMatchObject({
    providerDetails: { eventName: 'release.created' },
  });
});

test('what a process of the version before writes is subscribed to, too', async () => {
  const { id } = await make({ event: 'old.made' });
  await app.sql(`update webhook set event = 'old.changed' where id = ?`, [id]);
  await expect(owner().get(200, `/api/webhooks/${id}`)).resolves.toMatchObject({ events: ['old.changed'] });
  await expect(reached('old.changed', [id])).resolves.toEqual([1]);
  await expect(reached('old.made', [id])).resolves.toEqual([0]);
});

test('a group stays subscribed when a later version tests it with another event', async () => {
  const { id } = await make({ events: ['release.*'] });
  await app.sql(`update webhook set event = 'release.zoned', events = '{release.*,a.b}' where id = ?`, [id]);
  await app.sql(`update webhook set events = '{release.*}' where id = ?`, [id]);
  await owner().patch(200, `/api/webhooks/${id}`, { name: 'renamed' });
  await expect(owner().get(200, `/api/webhooks/${id}`)).resolves.toMatchObject({ events: ['release.*'] });
  await expect(reached('release.published', [id])).resolves.toEqual([1]);
});

test.each([
  [{ event: 'release.published', events: ['release.created'] }, '#/body/events'],
  [{ events: [] }, '#/body/events'],
  [{ events: ['release.published', '*'] }, '#/body/events/1'],
  [{ events: ['release.published.*'] }, '#/body/events/0'],
  [{ events: ['Release'] }, '#/body/events/0'],
  [{ event: 'release.*' }, '#/body/event'],
  [{}, '#/body/event'],
  [{ config: undefined, repositoryIdentifier: 'acme/x', webhookUrl: RECEIVER, events: ['push'] }, '#/body/events'],
])('refused: %j', async (body, pointer) => {
  expect(pointers(await make(body, 400))).toContain(pointer);
});

test('both at once are refused in a change, too', async () => {
  const { id } = await make({ event: 'release.published' });
  const problem = await owner().patch(400, `/api/webhooks/${id}`, { event: 'a.b', events: ['a.c'] });
  expect(problem.errors).toEqual([{ pointer: '#/body/events', detail: 'cannot be combined with event' }]);
});
