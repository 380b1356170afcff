import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  await app.as(app.owner).post(201, '/api/projects', { identifier: 'acme/shop', platform: 'host-a' });
});
afterAll(() => app.close());

const create = (status: number, name: string, promotion?: object | null): Promise<Json> =>
  app.as(app.owner).post(status, '/api/environments', {
    repositoryIdentifier: 'acme/shop',
    name,
    category: 'release',
    ...(promotion !== undefined && { promotion }),
  });
const patch = (status: number, id: string, body: object): Promise<Json> =>
  app.as(app.owner).patch(status, `/api/environments/${id}`, body);

const POLICY = {
  after: [],
  soakMinutes: 0,
  windows: [{ days: ['mon', 'thu'], from: '22:00', to: '02:00', timezone: 'Europe/Berlin' }],
  freezes: [{ from: '2026-12-18T00:00:00+01:00', to: '2027-01-04T00:00:00+01:00', reason: 'year end' }],
};

test('a promotion policy is kept as it is given, replaced as a whole, and its changes are in the trail', async () => {
  expect(await create(201, 'plain')).toMatchObject({ promotion: null });
  const { id } = await create(201, 'policed', POLICY);
  expect(await app.as(app.member).get(200, `/api/environments/${id}`)).toMatchObject({ promotion: POLICY });
  const windows = [{ days: ['sat'], from: '08:00', to: '12:00' }];
  expect((await patch(200, id, { promotion: { windows } })).promotion).toEqual({
    windows: [{ ...windows[0], timezone: 'UTC' }],
  });
  const { items } = await app.as(app.owner).get(200, `/api/audit?entityId=${id}&action=environment.updated`);
  expect(items[0]).toMatchObject({
    before: { promotion: POLICY },
    after: { promotion: { windows: [{ days: ['sat'] }] } },
  });
  expect((await patch(200, id, { promotion: null })).promotion).toBeNull();
});

const window = { days: ['mon'], from: '08:00', to: '12:00', timezone: 'UTC' };
test.each([
  ['an unknown day', { windows: [{ ...window, days: ['monday'] }] }, '/windows/0/days/0'],
  ['no day', { windows: [{ ...window, days: [] }] }, '/windows/0/days'],
  ['a time that no clock shows', { windows: [{ ...window, to: '24:00' }] }, '/windows/0/to'],
  ['a time zone that does not exist', { windows: [{ ...window, timezone: 'Europe/Atlantis' }] }, '/windows/0/timezone'],
  ['an offset for a time zone', { windows: [{ ...window, timezone: '+01:00' }] }, '/windows/0/timezone'],
  ['too many windows', { windows: Array.from({ length: 21 }, () => window) }, '/windows'],
  [
    'a freeze that ends before it begins',
    { freezes: [{ ...POLICY.freezes[0], to: '2026-12-01T00:00:00Z' }] },
    '/freezes/0/to',
  ],
  ['a freeze without a reason', { freezes: [{ ...POLICY.freezes[0], reason: ' ' }] }, '/freezes/0/reason'],
  ['a soak without what comes before', { soakMinutes: 60 }, '/soakMinutes'],
  ['a soak of more than a month', { after: ['plain'], soakMinutes: 43_201 }, '/soakMinutes'],
  ['a verification without what comes before', { requireVerified: true }, '/requireVerified'],
  ['a soak from a verification that is not asked for', { after: ['plain'], soakFrom: 'verified' }, '/soakFrom'],
  ['an unknown environment that comes before', { after: ['nowhere'] }, '/after'],
  ['itself before it', { after: ['refused'] }, '/after'],
  ['an unknown member', { window: [] }, '/window'],
])('%s is refused', async (_, promotion, pointer) => {
  expect((await create(400, 'refused', promotion)).errors[0].pointer).toBe(`#/body/promotion${pointer}`);
});

test('environments that come before one another are refused, follow a new name, and are not removed', async () => {
  const { id: first } = await create(201, 'first');
  await create(201, 'second', { after: ['first'] });
  const { id: third } = await create(201, 'third', { after: ['second'] });
  expect((await patch(400, first, { promotion: { after: ['third'] } })).errors[0].pointer).toBe(
    '#/body/promotion/after',
  );
  await patch(200, first, { name: 'renamed' });
  const list: Json[] = await app.as(app.owner).get(200, '/api/environments?repositoryIdentifier=acme/shop');
  const second = list.find(({ name }) => name === 'second');
  expect(second.promotion).toEqual({ after: ['renamed'] });
  expect((await app.as(app.owner).delete(409, `/api/environments/${first}`)).detail).toMatch(/second/);
  await app.as(app.owner).delete(204, `/api/environments/${third}`);
  await patch(200, second.id, { promotion: null });
  await app.as(app.owner).delete(204, `/api/environments/${first}`);
});
