import type { Json } from '../../../support/client.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { OrgDeployments } from '../../../simulators/crm-org/deployments.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { classesZip } from '../../../support/deploy-archive.ts';
import { newRepository } from '../../../support/repository.ts';
import { sourceOf } from '../../../support/source-builds.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const QUEUES = ['flows-v1', 'crm-v1', 'git-v1', 'approvals-v1', 'system-v1'];
const TEST_CLASS = '@isTest\npublic class InvoiceTest {\n  @isTest static void adds() {}\n}\n';

let app: TestApp;
let crm: CrmSimulator;
let worker: TestWorker;
let org: SimulatedOrg;
let deployments: OrgDeployments;
let remote: ReturnType<typeof newRepository>;
let first: string;
let second: string;
let repositoryIdentifier: string;
let made = 0;
beforeAll(async () => {
  crm = await crmSimulator([]);
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', ALLOW_LOCAL_GIT: 'true', SERVICE_PACE: '0.01' } });
  worker = await startWorker(app, QUEUES);
  remote = newRepository();
  first = remote.commit({
    files: {
      ...sourceOf.project([{ path: 'app' }]),
      ...sourceOf.apexClass('app', 'Invoice'),
      ...sourceOf.apexClass('app', 'Old'),
      ...sourceOf.apexClass('app', 'InvoiceTest'),
      'app/classes/InvoiceTest.cls': TEST_CLASS,
    },
  });
  second = remote.commit({
    files: {
      ...sourceOf.apexClass('app', 'Invoice', ' Integer total; '),
      ...Object.fromEntries(Object.keys(sourceOf.apexClass('app', 'Old')).map((path) => [path, null])),
    },
  });
});
beforeEach(async () => {
  made++;
  repositoryIdentifier = `acme/shop-${made}`;
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: remote.path,
    configuration: { approvalPolicy: { skipApproval: true } },
  });
  org = await crm.addOrg({ name: `org-${made}`, kind: 'sandbox' });
  ({ deployments } = org);
  deployments.polls = { pending: 0, components: 1, tests: 1, finalizing: 0 };
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
    payload: { id: 'install-artifacts', repositoryIdentifier, orgUsername: org.username, ...payload },
  });
const shown = ({ id }: Json): Promise<Json> => app.as(app.owner).get(200, `/api/flows/runs/${id}`);
const ended = (run: Json): Promise<Json> => endedRun(app, run);
const ran = async (payload: object): Promise<Json> => ended(await start(payload));
const committed = () => deployments.ledger.map(({ components, deletions }) => ({ components, deletions }));
const begun = (run: Json) =>
  eventually(
    () => shown(run),
    ({ steps }) => (steps as Json[])[1]?.externalId !== null && (steps as Json[])[1]?.externalId !== undefined,
  );

test('deploys a commit whole, then what differs, and what is gone when that is allowed: the same as all of it at once', async () => {
  const whole = await ran({ commitId: first });
  expect(whole).toMatchObject({
    status: 'Completed',
    result: {
      form: 'whole',
      commitSha: first,
      baseSha: null,
      components: 3,
      changes: { created: 3 },
      validateOnly: false,
    },
    steps: [
      { name: 'Build the source', state: 'succeeded' },
      { name: 'Deploy', state: 'succeeded', externalId: deployments.all[0]?.id, progress: { percent: 100 } },
    ],
  });
  await expect(ran({ commitId: second })).resolves.toMatchObject({
    status: 'Completed',
    result: { form: 'delta', baseSha: first, components: 1, deletions: 0, pendingDeletions: 1 },
  });
  await expect(ran({ commitId: second, deletions: true })).resolves.toMatchObject({
    status: 'Completed',
    result: { deletions: 1, pendingDeletions: 0, changes: { deleted: 1 } },
  });
  await expect(ran({ commitId: second })).resolves.toMatchObject({
    status: 'Completed',
    result: { form: 'nothing' },
    steps: [{ state: 'succeeded' }, { state: 'skipped' }],
  });
  expect(committed()).toEqual([
    { components: ['ApexClass:Invoice', 'ApexClass:InvoiceTest', 'ApexClass:Old'], deletions: [] },
    { components: ['ApexClass:Invoice'], deletions: [] },
    { components: [], deletions: ['ApexClass:Old'] },
  ]);
  const other = await crm.addOrg({ name: `other-${made}`, kind: 'sandbox' });
  await app.as(app.owner).post(201, '/api/auth/crm/register', { cliAuthUrl: other.authUrl });
  await ran({ commitId: second, orgUsername: other.username });
  expect(deployments.components.contents()).toEqual(other.deployments.components.contents());
  const { text } = await app.as(app.owner).request(200, 'GET', `/api/flows/runs/${whole.id}/output`);
  expect(text).toContain('Succeeded, 3 of 3 components');
});

test('of a part of its packages an org is known to have that part, and no more', async () => {
  const parted = remote.commit({
    files: { ...sourceOf.project([{ path: 'app' }, { path: 'lib' }]), ...sourceOf.apexClass('lib', 'Lib') },
  });
  const changed = remote.commit({ files: sourceOf.apexClass('lib', 'Lib', ' Integer more; ') });
  await expect(ran({ commitId: parted, sourcePackages: ['lib'] })).resolves.toMatchObject({
    result: { form: 'whole' },
  });
  await expect(ran({ commitId: changed, sourcePackages: ['lib'] })).resolves.toMatchObject({
    result: { form: 'delta', baseSha: parted, components: 1 },
  });
  await expect(ran({ commitId: changed, sourcePackages: ['app'] })).resolves.toMatchObject({
    result: { form: 'whole', baseSha: null },
  });
  await expect(ran({ commitId: changed })).resolves.toMatchObject({ status: 'Completed', result: { form: 'whole' } });
  await expect(ran({ commitId: changed, sourcePackages: ['lib'] })).resolves.toMatchObject({
    result: { form: 'nothing' },
  });
});

test('a failure names component, file and line, and leaves the org as it was', async () => {
  deployments.problems = [{ pattern: /total/, problem: 'Variable does not exist: total' }];
  const run = await ran({ commitId: second });
  expect(run).toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('ApexClass Invoice (classes/Invoice.cls:1:1): Variable does not exist') },
    result: { problemCount: 1, problems: [{ kind: 'component', advice: expect.any(String) }] },
    steps: [{ state: 'succeeded' }, { state: 'failed' }],
  });
  deployments.problems = [];
  deployments.failures = [{ errorStatusCode: 'UNKNOWN_EXCEPTION', errorMessage: 'gack' }];
  await expect(ran({ commitId: second })).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('UNKNOWN_EXCEPTION: gack') },
  });
  expect(committed()).toEqual([]);
});

test('a validation changes nothing, and is deployed without its tests', async () => {
  const validation = await ran({ commitId: first, validateOnly: true, testLevel: 'RunLocalTests' });
  expect(validation).toMatchObject({
    status: 'Completed',
    result: { validateOnly: true, tests: { run: 1, failed: 0 } },
    steps: [{}, { name: 'Validate', state: 'succeeded' }],
  });
  expect(committed()).toEqual([]);
  const quick = await ran({ quickDeployOf: validation.id });
  expect(quick).toMatchObject({ status: 'Completed', result: { commitSha: first, tests: { run: 0 } } });
  expect(deployments.ledger).toHaveLength(1);
  await expect(ran({ commitId: second })).resolves.toMatchObject({ result: { form: 'delta', baseSha: first } });
  await expect(ran({ quickDeployOf: validation.id })).resolves.toMatchObject({ status: 'Failed' });
});

test('what a validation leaves in the org is pending after its quick deployment, and goes with what may delete', async () => {
  await ran({ commitId: first });
  const validation = await ran({ commitId: second, validateOnly: true, testLevel: 'RunLocalTests' });
  expect(validation).toMatchObject({ status: 'Completed', result: { form: 'delta', pendingDeletions: 1 } });
  await expect(ran({ quickDeployOf: validation.id })).resolves.toMatchObject({ status: 'Completed' });
  await expect(ran({ commitId: second, deletions: true })).resolves.toMatchObject({
    status: 'Completed',
    result: { baseSha: second, deletions: 1, pendingDeletions: 0 },
  });
  expect(committed().at(-1)).toEqual({ components: [], deletions: ['ApexClass:Old'] });
});

test('nothing is deployed twice where the answer was lost, the session ended or the org was away', async () => {
  org.fail('lost', { path: /deployRequest$/ });
  await expect(ran({ commitId: first })).resolves.toMatchObject({ status: 'Completed' });
  expect(deployments.all).toHaveLength(1);
  org.endSessions();
  const body = [{ errorCode: 'INVALID_CROSS_REFERENCE_KEY', message: 'invalid cross reference id' }];
  org.fail({ kind: 'reply', status: 500, body }, { path: /deployRequest\/0Af/ });
  org.fail('html', { path: /deployRequest\/0Af/ });
  await expect(ran({ commitId: second })).resolves.toMatchObject({ status: 'Completed' });
  expect(deployments.all).toHaveLength(2);
});

test('a credential that is refused while the org deploys is waited for, and nothing is asked for again', async () => {
  const release = deployments.occupy();
  const run = await start({ commitId: first });
  await begun(run);
  org.revokeApprovals();
  await eventually(
    () => app.as(app.owner).get(200, '/api/auth/crm/health'),
    (health) => JSON.stringify(health).includes('auth_failed'),
  );
  await expect(shown(run)).resolves.toMatchObject({ status: 'Running', steps: [{}, { state: 'begun' }] });
  release();
  await app.as(app.owner).post(200, '/api/auth/crm/register', { cliAuthUrl: org.authUrlOf(org.approve()) });
  await expect(ended(run)).resolves.toMatchObject({ status: 'Completed' });
  expect(deployments.all).toHaveLength(2);
});

test('two deployments of the same user are not told apart where the answer was lost', async () => {
  org.fail('lost', { path: /deployRequest$/ });
  const release = org.hold(/deployRequest$/);
  const run = await start({ commitId: first });
  await eventually(
    async () => crm.requests.some(({ org: name, path }) => name === org.name && path.endsWith('deployRequest')),
    Boolean,
  );
  deployments.start(classesZip({ A: 'class A {}' }), { checkOnly: false, rollbackOnError: true });
  release();
  await expect(ended(run)).resolves.toMatchObject({ status: 'Failed', result: { code: 'unknown_outcome' } });
  expect(deployments.all).toHaveLength(2);
});

test('an org that is locked is asked again', async () => {
  const lock = { errorStatusCode: 'ALREADY_IN_PROCESS', errorMessage: 'administration setup has already been locked' };
  deployments.failures = [lock, lock];
  const body = [{ errorCode: 'ALREADY_IN_PROCESS', message: 'a background job is being executed' }];
  org.fail({ kind: 'reply', status: 400, body }, { path: /deployRequest$/ });
  await expect(ran({ commitId: first })).resolves.toMatchObject({ status: 'Completed' });
  expect(deployments.all).toHaveLength(3);
  deployments.failures = Array.from({ length: 6 }, () => lock);
  await expect(ran({ commitId: second })).resolves.toMatchObject({ status: 'Failed' });
  expect(deployments.all).toHaveLength(9);
});

describe('cancelling', () => {
  test('stops what waits, and what is under way', async () => {
    const release = deployments.occupy();
    const waiting = await start({ commitId: first });
    await begun(waiting);
    await app.as(app.owner).post(200, `/api/flows/runs/${waiting.id}/cancel`);
    await expect(ended(waiting)).resolves.toMatchObject({
      status: 'Cancelled',
      steps: [{ state: 'succeeded' }, { state: 'cancelled' }],
    });
    release();
    deployments.polls.components = 1_000_000;
    const running = await start({ commitId: first });
    await begun(running);
    await app.as(app.owner).post(200, `/api/flows/runs/${running.id}/cancel`);
    await expect(ended(running)).resolves.toMatchObject({ status: 'Cancelled', steps: [{}, { state: 'cancelled' }] });
    expect(committed()).toEqual([]);
  });

  test('says where the org does not stop it', async () => {
    deployments.polls = { pending: 0, components: 0, tests: 0, finalizing: 1_000_000 };
    const run = await start({ commitId: first });
    await eventually(
      async () => deployments.all[0]?.status,
      (status) => status === 'FinalizingDeploy',
    );
    await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
    const { status, success } = await ended(run);
    expect(status).toBe('Cancelled');
    expect(JSON.stringify(success)).toContain('The org does not stop it');
  });
});

test.each([
  [{}, 'Nothing names what is deployed'],
  [{ commitId: 'abcdef1', testLevel: 'Everything' }, 'testLevel is one of'],
  [{ commitId: 'abcdef1', testLevel: 'RunSpecifiedTests' }, 'names its test classes'],
  [{ commitId: 'abcdef1', artifacts: { app: '1.0' } }, 'by a command or a pipeline'],
  [{ quickDeployOf: '019a0000-0000-7000-8000-000000000000' }, 'has no run'],
  [{ commitId: 'abcdef1', orgUsername: 'nobody@x.example' }, 'is not registered'],
  [{ domain: 'core', releaseName: 'R1' }, 'has no release candidate'],
])('%j is refused before it begins', async (payload, detail) => {
  await expect(start(payload, 409)).resolves.toMatchObject({ detail: expect.stringContaining(detail) });
});

test('a commit that the repository does not have is said', async () => {
  await expect(ran({ commitId: 'f'.repeat(40) })).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('has no commit') },
  });
});
