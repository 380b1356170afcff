import type { Json } from '../../../support/client.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/tests';
const QUEUES = ['flows-v1', 'crm-v1', 'approvals-v1', 'system-v1'];
const LOCKED = 'System.DmlException: Insert failed: UNABLE_TO_LOCK_ROW, unable to obtain exclusive access';

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
let org: SimulatedOrg;
let made = 0;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', SERVICE_PACE: '0.01' } });
  worker = await startWorker(app, QUEUES);
  await app.as(app.owner).post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
});
beforeEach(async () => {
  org = await crm.addOrg({ name: `org-${++made}`, kind: 'sandbox' });
  org.apexTests.addClass('InvoiceTest', ['adds', 'rounds']);
  org.apexTests.addClass('OrderTest', ['ships']);
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
});

const start = (payload: object = {}, status = 202): Promise<Json> =>
  app.as(app.owner).post(status, '/api/flows/run', {
    payload: { id: 'run-apex-tests', repositoryIdentifier, orgUsername: org.username, ...payload },
  });
const shown = ({ id }: Json): Promise<Json> => app.as(app.owner).get(200, `/api/flows/runs/${id}`);
const ended = (run: Json): Promise<Json> => endedRun(app, run);
const ran = async (payload: object = {}): Promise<Json> => ended(await start(payload));
const testsOf = ({ id }: Json, query = ''): Promise<Json> =>
  app.as(app.owner).get(200, `/api/flows/runs/${id}/tests${query}`);

test('runs the tests of an org, with each method, coverage and a report', async () => {
  org.deployments.coverage.set('Invoice', { lines: 40, uncovered: 10 });
  org.deployments.failingTests.set('InvoiceTest.rounds', {
    message: 'System.AssertException: Assertion Failed: <1> & 2',
  });
  const run = await ran();
  expect(run).toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('1 of 3 test methods failed: InvoiceTest.rounds') },
    result: { tests: { passed: 2, failed: 1 }, coveragePercent: 75, orgUsername: org.username },
    steps: [{ name: 'Run Apex tests', state: 'succeeded', externalId: org.apexTests.jobs[0]?.id }],
  });
  await expect(testsOf(run, '?limit=2')).resolves.toMatchObject({
    total: 3,
    passed: 2,
    failed: 1,
    skipped: 0,
    timeMs: 36,
    items: [
      {
        className: 'InvoiceTest',
        method: 'rounds',
        outcome: 'Fail',
        stackTrace: 'Class.InvoiceTest.rounds: line 3, column 1',
        advice: expect.stringContaining('compare both values'),
        isRepeated: false,
      },
      { className: 'InvoiceTest', method: 'adds', outcome: 'Pass', message: null },
    ],
  });
  await expect(testsOf(run, '?outcome=passed')).resolves.toMatchObject({ total: 2 });
  await expect(app.as(app.owner).get(200, `/api/flows/runs/${run.id}/coverage`)).resolves.toMatchObject({
    percent: 75,
    items: [{ className: 'Invoice', lines: 40, uncovered: 10, percent: 75 }],
  });
  const { text } = await app.as(app.owner).request(200, 'GET', `/api/flows/runs/${run.id}/tests.xml`);
  expect(text).toContain('tests="3" failures="1"');
  expect(text).toContain('<testcase name="adds" classname="InvoiceTest" time="0.012"/>');
  expect(text).toContain('<failure message="System.AssertException: Assertion Failed: &lt;1&gt; &amp; 2">');
  await app.as(app.stranger).get(404, `/api/flows/runs/${run.id}/tests`);
  await app.as(app.stranger).get(404, `/api/flows/runs/${run.id}/tests.xml`);
});

test('runs what is named alone, and fails where too little is covered', async () => {
  org.apexTests.suites.set('Smoke', ['OrderTest']);
  org.deployments.coverage.set('Invoice', { lines: 40, uncovered: 10 });
  await expect(ran({ suites: ['Smoke'], minCoverage: 70 })).resolves.toMatchObject({
    status: 'Completed',
    result: { tests: { total: 1 } },
  });
  await expect(ran({ classNames: ['InvoiceTest'], minCoverage: 80 })).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('75 % of the lines of the org; 80 %') },
  });
});

test('runs a second time what could not lock a row', async () => {
  org.deployments.failingTests.set('InvoiceTest.adds', { message: LOCKED, times: 1 });
  const run = await ran();
  expect(run).toMatchObject({
    status: 'Completed',
    result: { tests: { passed: 3, failed: 0 } },
    steps: [{ state: 'succeeded' }, { name: expect.stringContaining('again'), state: 'succeeded' }],
  });
  expect(org.apexTests.jobs[1]?.methods).toMatchObject([{ className: 'InvoiceTest', method: 'adds' }]);
  const { items } = await testsOf(run);
  expect((items as Json[]).filter(({ isRepeated }) => isRepeated)).toMatchObject([{ method: 'adds', outcome: 'Pass' }]);
  org.deployments.failingTests.set('InvoiceTest.adds', { message: LOCKED });
  await expect(ran()).resolves.toMatchObject({ status: 'Failed', result: { tests: { failed: 1 } } });
  expect(org.apexTests.jobs).toHaveLength(4);
});

test('never starts tests twice where the answer was lost', async () => {
  org.fail('lost', { path: /runTestsAsynchronous/ });
  await expect(ran()).resolves.toMatchObject({ status: 'Completed' });
  expect(org.apexTests.jobs).toHaveLength(1);
});

test('tests that somebody else began as the same user are not taken for those that were asked for', async () => {
  org.fail('drop', { path: /runTestsAsynchronous/ });
  const release = org.hold(/runTestsAsynchronous/);
  const run = await start({ classNames: ['OrderTest'] });
  await eventually(
    async () => crm.requests.some((each) => each.org === org.name && each.path.endsWith('runTestsAsynchronous')),
    Boolean,
  );
  org.apexTests.rest(
    'POST',
    '/tooling/runTestsAsynchronous',
    JSON.stringify({ testLevel: 'RunSpecifiedTests', classNames: 'InvoiceTest' }),
  );
  release();
  await expect(ended(run)).resolves.toMatchObject({ status: 'Completed', result: { tests: { total: 1 } } });
  expect(org.apexTests.jobs).toHaveLength(2);
});

test('reads results that are too large for one answer by fewer at a time', async () => {
  const methods = Array.from({ length: 1_000 }, (_, index) => `m${index}`);
  org.apexTests.addClass('LongTest', methods);
  for (const method of methods) org.deployments.failingTests.set(`LongTest.${method}`, { message: 'x'.repeat(17_000) });
  await expect(ran({ classNames: ['LongTest'] })).resolves.toMatchObject({
    status: 'Failed',
    result: { tests: { failed: 1_000 } },
  });
});

test('stops the tests in the org when the run is cancelled', async () => {
  org.apexTests.polls = 1_000_000;
  const run = await start();
  await eventually(
    () => shown(run),
    ({ steps }) => (steps as Json[]).some(({ progress }) => progress !== null),
  );
  await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
  await expect(ended(run)).resolves.toMatchObject({ status: 'Cancelled', steps: [{ state: 'cancelled' }] });
  expect(org.apexTests.jobs[0]?.status).toBe('Aborted');
});

test.each([
  [{ testLevel: 'Everything' }, 'testLevel is one of'],
  [{ testLevel: 'RunSpecifiedTests' }, 'names tests by classNames or suites'],
  [{ orgUsername: 'nobody@x.example' }, 'is not registered'],
])('%j is refused before it begins', async (payload, detail) => {
  await expect(start(payload, 409)).resolves.toMatchObject({ detail: expect.stringContaining(detail) });
});

test('tests that the org does not have are no success', async () => {
  const bare = await crm.addOrg({ name: `bare-${made}`, kind: 'sandbox' });
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: bare.authUrl });
  await expect(ran({ orgUsername: bare.username })).resolves.toMatchObject({ status: 'Failed' });
});
