import { type TestApp, testApp } from '../../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  await app.as(app.owner).post(201, '/api/projects', { identifier: 'acme/shop', platform: 'host-a' });
});
afterAll(() => app.close());

const create = (status: number, name: string, verification?: object) =>
  app.as(app.owner).post(status, '/api/environments', {
    repositoryIdentifier: 'acme/shop',
    name,
    category: 'release',
    ...(verification !== undefined && { verification }),
  });

const LONG_STEP = { type: 'waitForExpression', expression: 'x'.repeat(10_000) };
const RECORDING = { title: 'Smoke', steps: [{ type: 'navigate', url: 'https://acme.example/' }] };
const METRIC = { type: 'metric', query: 'errors_total', max: 0, minutes: 15 };

test('how deployments are verified is kept with its defaults, and its changes are in the trail', async () => {
  expect(await create(201, 'plain')).toMatchObject({ verification: null });
  const { id } = await create(201, 'verified', { checks: [METRIC, { type: 'apex-tests', suites: ['Smoke'] }] });
  const kept = {
    checks: [METRIC, { type: 'apex-tests', suites: ['Smoke'], timeoutMinutes: 120 }],
    onFailure: 'notify',
  };
  expect((await app.as(app.member).get(200, `/api/environments/${id}`)).verification).toEqual(kept);
  await app.as(app.member).patch(403, `/api/environments/${id}`, { verification: null });
  await app.as(app.owner).patch(200, `/api/environments/${id}`, { verification: null });
  const { items } = await app.as(app.owner).get(200, `/api/audit?entityId=${id}&action=environment.updated`);
  expect(items[0]).toMatchObject({ before: { verification: kept }, after: { verification: null } });
});

test.each([
  ['no checks', { checks: [] }, '/checks'],
  ['too many checks', { checks: Array.from({ length: 6 }, () => METRIC) }, '/checks'],
  ['an unknown check', { checks: [{ type: 'browser' }] }, '/checks/0/type'],
  ['a metric without bounds', { checks: [{ ...METRIC, max: undefined }] }, '/checks/0/max'],
  ['bounds that nothing is within', { checks: [{ ...METRIC, min: 1 }] }, '/checks/0/min'],
  ['a metric for more than a day', { checks: [{ ...METRIC, minutes: 1_441 }] }, '/checks/0/minutes'],
  ['a query that is too long', { checks: [{ ...METRIC, query: 'x'.repeat(4_001) }] }, '/checks/0/query'],
  [
    'more calls than may come',
    { checks: [{ type: 'rehearsal', workspace: 'w', scenario: 's', path: '/', minutes: 1, atMost: 0 }] },
    '/checks/0/atLeast',
  ],
  ['a browser check without a recording', { checks: [{ type: 'browser-check' }] }, '/checks/0/path'],
  [
    'a browser check with two recordings',
    { checks: [{ type: 'browser-check', path: 'a.json', recording: RECORDING }] },
    '/checks/0/path',
  ],
  [
    'a recording with a step that is not played',
    { checks: [{ type: 'browser-check', recording: { title: 'x', steps: [{ type: 'customStep' }] } }] },
    '/checks/0/recording/steps/0/type',
  ],
  [
    'a recording that is too long',
    {
      checks: [
        { type: 'browser-check', recording: { title: 'Long', steps: Array.from({ length: 7 }, () => LONG_STEP) } },
      ],
    },
    '/checks/0/recording',
  ],
  [
    'an origin that is an address',
    { checks: [{ type: 'browser-check', recording: RECORDING, recordedAt: 'https://x.test/a' }] },
    '/checks/0/recordedAt',
  ],
  ['a browser check without an org', { checks: [METRIC, { type: 'browser-check', path: 'a.json' }] }, '/checks/1/type'],
  ['an unknown reaction', { checks: [METRIC], onFailure: 'panic' }, '/onFailure'],
])('%s is refused', async (_, verification, pointer) => {
  expect((await create(400, 'refused', verification)).errors[0].pointer).toBe(`#/body/verification${pointer}`);
});

test('a browser check is kept with its recording, and needs the org of its environment', async () => {
  const verification = { checks: [{ type: 'browser-check', recording: RECORDING }], onFailure: 'hold' };
  const made = await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier: 'acme/shop',
    name: 'played',
    category: 'release',
    orgUsername: 'admin@acme.example',
    verification,
  });
  const kept = { checks: [{ ...verification.checks[0], timeoutMinutes: 120 }], onFailure: 'hold' };
  expect((await app.as(app.member).get(200, `/api/environments/${made.id}`)).verification).toEqual(kept);
  const refused = await app.as(app.owner).patch(400, `/api/environments/${made.id}`, { orgUsername: null });
  expect(refused.errors[0]).toMatchObject({ pointer: '#/body/orgUsername' });
  await app.as(app.owner).patch(200, `/api/environments/${made.id}`, { orgUsername: null, verification: null });
});
