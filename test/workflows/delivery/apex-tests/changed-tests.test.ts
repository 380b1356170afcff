import type { Json } from '../../../support/client.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { newRepository } from '../../../support/repository.ts';
import { sourceOf } from '../../../support/source-builds.ts';
import { startWorker, type TestWorker } from '../../../support/worker.ts';

const QUEUES = ['flows-v1', 'crm-v1', 'git-v1', 'approvals-v1', 'system-v1'];
const tests = (name: string, uses = '') => `@isTest\nclass ${name} {\n  @isTest static void works() { ${uses} }\n}\n`;
const OLD = 'public class Invoice {\n  Integer a;\n  Integer b;\n}\n';
const NEW = 'public class Invoice {\n  Integer a;\n  Integer c;\n  Integer d;\n}\n';

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
let org: SimulatedOrg;
let remote: ReturnType<typeof newRepository>;
let repositoryIdentifier: string;
const commits: Record<'first' | 'changed' | 'docs' | 'lonely', string> = {
  first: '',
  changed: '',
  docs: '',
  lonely: '',
};
let made = 0;

const apex = (name: string, text: string) => ({
  ...sourceOf.apexClass('app', name),
  [`app/classes/${name}.cls`]: text,
});
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', ALLOW_LOCAL_GIT: 'true', SERVICE_PACE: '0.01' } });
  worker = await startWorker(app, QUEUES);
  remote = newRepository();
  commits.first = remote.commit({
    files: {
      ...sourceOf.project([{ path: 'app' }]),
      ...apex('Invoice', OLD),
      ...apex('InvoiceTest', tests('InvoiceTest', 'new Invoice();')),
      ...apex('OrderTest', tests('OrderTest')),
      ...apex('IndirectTest', tests('IndirectTest')),
    },
  });
  commits.changed = remote.commit({ files: { 'app/classes/Invoice.cls': NEW } });
  commits.docs = remote.commit({ files: { 'app/notes.md': 'Read me', 'README.md': 'And me' } });
  commits.lonely = remote.commit({ files: apex('Lonely', 'public class Lonely {\n  Integer a;\n}\n') });
});
beforeEach(async () => {
  repositoryIdentifier = `acme/shop-${++made}`;
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: remote.path,
    configuration: { approvalPolicy: { skipApproval: true } },
  });
  org = await crm.addOrg({ name: `org-${made}`, kind: 'sandbox' });
  org.deployments.polls = { pending: 0, components: 1, tests: 1, finalizing: 0 };
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
  remote.remove();
});

const start = (payload: object, status = 202): Promise<Json> =>
  app.as(app.owner).post(status, '/api/flows/run', {
    payload: { id: 'run-apex-tests', repositoryIdentifier, orgUsername: org.username, ...payload },
  });
const ran = async (payload: object): Promise<Json> => endedRun(app, await start(payload));
const deployed = async (commitId: string) =>
  expect(await ran({ id: 'install-artifacts', commitId })).toMatchObject({ status: 'Completed' });
/** As if somebody had deployed it without the service. */
const isThere = (invoice: string) => {
  org.metadata.write('classes/Invoice.cls', invoice);
  for (const name of ['InvoiceTest', 'OrderTest', 'IndirectTest']) org.apexTests.addClass(name, ['works']);
};
const coverageOf = ({ id }: Json): Promise<Json> => app.as(app.owner).get(200, `/api/flows/runs/${id}/coverage`);
const classesRun = () => org.apexTests.jobs.map(({ items }) => items.map(({ className }) => className).toSorted());
const fails = (test: string, times?: number) =>
  org.deployments.failingTests.set(test, {
    message: 'System.AssertException: no',
    ...(times !== undefined && { times }),
  });

test('runs the tests that changed, that name what changed, and that covered it', async () => {
  await deployed(commits.first);
  await deployed(commits.changed);
  org.apexTests.covers.set('IndirectTest', ['Invoice']);
  org.deployments.coverage.set('Invoice', { lines: 5, uncovered: 1, uncoveredLines: [4] });
  const run = await ran({ changedClassesOnly: true });
  expect(run).toMatchObject({
    status: 'Completed',
    result: {
      tests: { total: 2 },
      changedLines: { covered: 1, total: 2, percent: 50 },
      selection: { classNames: ['IndirectTest', 'InvoiceTest'], changed: 1, untested: [], otherFiles: 0 },
    },
    steps: [{ state: 'succeeded' }, { name: 'Run Apex tests', state: 'succeeded' }],
  });
  expect(classesRun()).toEqual([['IndirectTest', 'InvoiceTest']]);
  await expect(coverageOf(run)).resolves.toMatchObject({
    changedLines: { covered: 1, total: 2, percent: 50 },
    changedUnknown: 0,
    items: [{ className: 'Invoice', changedLines: { covered: 1, total: 2, percent: 50 }, whyUnknown: null }],
  });
});

test('runs nothing where no Apex changed, and says so', async () => {
  await expect(
    ran({ changedClassesOnly: true, commitId: commits.docs, since: commits.changed, minChangedCoverage: 90 }),
  ).resolves.toMatchObject({
    status: 'Completed',
    result: {
      tests: { total: 0 },
      selection: { classNames: [], reason: expect.stringContaining('No class or trigger differs'), otherFiles: 1 },
    },
  });
  expect(org.apexTests.jobs).toHaveLength(0);
});

test.each([
  ['is reached by no test', { commitId: 'lonely', since: 'docs' }, 'No test reaches what changed: Lonely'],
  ['is compared with nothing that is known', { commitId: 'changed' }, 'not known what the org ran before'],
  [
    'is compared with what there is not',
    { commitId: 'changed', since: 'nowhere' },
    'no branch, tag, commit or release nowhere',
  ],
  [
    'is not in the org',
    { commitId: 'changed', since: 'first' },
    'does not have test classes that the commit has: InvoiceTest',
  ],
])('fails where what changed %s', async (_, { commitId, since }: Json, error) => {
  const shaOf = (name: string) => commits[name as keyof typeof commits] ?? name;
  const sides = { commitId: shaOf(commitId), ...(since !== undefined && { since: shaOf(since) }) };
  await expect(ran({ changedClassesOnly: true, ...sides })).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining(error) },
  });
  expect(org.apexTests.jobs).toHaveLength(0);
});

test('lines of a class that the org has otherwise are not known, and no gate passes by that', async () => {
  isThere(OLD);
  org.deployments.coverage.set('Invoice', { lines: 4, uncovered: 0 });
  const run = await ran({ commitId: commits.changed, since: commits.first, minChangedCoverage: 50 });
  expect(run).toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('not known how much of what changed') },
    result: { changedLines: { percent: null } },
  });
  await expect(coverageOf(run)).resolves.toMatchObject({
    changedUnknown: 1,
    items: [
      { className: 'Invoice', changedLines: null, whyUnknown: expect.stringContaining('not that of the commit') },
    ],
  });
});

test('the gates of the project hold for its runs: changed lines, and no new failures', async () => {
  await app.as(app.owner).patch(200, `/api/projects/${encodeURIComponent(repositoryIdentifier)}`, {
    configuration: {
      approvalPolicy: { skipApproval: true },
      apexTests: { minChangedCoverage: 60, noNewFailures: true },
    },
  });
  isThere(OLD);
  fails('OrderTest.works');
  await expect(ran({ commitId: commits.first })).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('all count as new') },
    result: { changedLines: null, changedLinesUnknown: expect.stringContaining('not known what the org ran before') },
  });
  isThere(NEW);
  const changed = { commitId: commits.changed, since: commits.first };
  org.deployments.coverage.set('Invoice', { lines: 5, uncovered: 1, uncoveredLines: [4] });
  await expect(ran(changed)).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('50 % of the lines that changed (1 of 2); 60 %') },
    result: { newFailures: 0, failures: [{ test: 'OrderTest.works', isNew: false }] },
  });
  await expect(ran({ ...changed, minChangedCoverage: 50 })).resolves.toMatchObject({ status: 'Completed' });
  fails('InvoiceTest.works');
  await expect(ran({ ...changed, minChangedCoverage: 50 })).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('1 of 3 test methods failed: InvoiceTest.works') },
    result: { newFailures: 1 },
  });
});

test('a method that passes and fails with one commit is flaky, and may fail where that is asked for', async () => {
  isThere(OLD);
  const first = { commitId: commits.first };
  await ran(first);
  fails('OrderTest.works', 2);
  const run = await ran(first);
  expect(run).toMatchObject({ status: 'Failed', result: { failures: [{ test: 'OrderTest.works', isFlaky: false }] } });
  const shown = await app.as(app.owner).get(200, `/api/flows/runs/${run.id}/tests`);
  expect(shown.items).toMatchObject([
    { className: 'OrderTest', history: { runs: 2, failures: 1, isFlaky: true } },
    { history: { runs: 2, failures: 0, isFlaky: false } },
    { history: { runs: 2, failures: 0, isFlaky: false } },
  ]);
  await expect(ran({ ...first, ignoreFlaky: true })).resolves.toMatchObject({
    status: 'Completed',
    result: { flakyIgnored: ['OrderTest.works'], failures: [{ isFlaky: true }] },
  });
});
