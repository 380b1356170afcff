import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { insertWebhook } from '../../../support/factories.ts';
import { mockStage, step } from '../../../support/mocks.ts';
import { cutRelease, success } from '../../../support/releases.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorker } from '../../../support/worker.ts';
import {
  verificationChangedSignal,
  verificationContract,
} from '../../../../workflows/delivery/verification/verification.contract.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';

const repositoryIdentifier = 'acme/verified';
const SHARED = ['crm-v1', 'commands-v1', 'environment-locks-v1', 'approvals-v1', 'releases-v1', 'system-v1'];
const METRIC = { type: 'metric', query: 'vector(3)', minutes: 60 };
const GOOD = { type: 'command', name: 'good' };
const BAD = { type: 'command', name: 'bad' };

const folder = mkdtempSync(join(tmpdir(), 'quayside-verification-'));
const commandsFile = join(folder, 'commands.json');
const shell = (script: string, ...args: string[]) => ({ program: '/bin/sh', args: ['-c', script, 'sh', ...args] });
writeFileSync(
  commandsFile,
  JSON.stringify({
    'verify-deployment': shell('test "$1" = endless && exec sleep 600; test "$1" = good', '{payload.check}'),
    'execute-release': shell('true'),
  }),
);

let app: TestApp;
let crm: CrmSimulator;
let org: SimulatedOrg;
let worker: TestWorker;
const ids: Record<string, string> = {};
beforeAll(async () => {
  crm = await crmSimulator([]);
  org = await crm.addOrg({ name: 'uat', kind: 'sandbox' });
  org.apexTests.addClass('SmokeTest', ['works']);
  const env = { COMMANDS_FILE: commandsFile, OUTBOUND_ALLOW: '127.0.0.0/8', SERVICE_PACE: '0.01' };
  app = await testApp({ env });
  worker = await startWorker(app, ['flows-v1', ...SHARED]);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
  await owner.post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
  for (const [orchestrationOrder, name] of ['uat', 'prod'].entries()) {
    const own = name === 'uat' ? { orgUsername: org.username } : {};
    const environment = { repositoryIdentifier, name, category: 'test', orchestrationOrder, ...own };
    ids[name] = (await owner.post(201, '/api/environments', environment)).id;
  }
  for (const event of ['deployment.verified', 'deployment.verification_failed', 'release.hold_lifted'])
    await insertWebhook(app, { event });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await crm.close();
  rmSync(folder, { recursive: true, force: true });
});

let made = 0;
const setUat = (checks: object[], onFailure = 'notify') =>
  app.as(app.owner).patch(200, `/api/environments/${ids.uat}`, { verification: { checks, onFailure } });
const setProd = (promotion: object | null) =>
  app.as(app.owner).patch(200, `/api/environments/${ids.prod}`, { promotion });

/** A candidate that a pipeline says it has deployed to uat. */
async function deployed(releaseName = `r${++made}`): Promise<{ releaseName: string; candidateId: string }> {
  const value = { artifacts: { app: `1.0.0-${made}` } };
  const { id } = await cutRelease(app, repositoryIdentifier, releaseName, { value });
  const report = success(repositoryIdentifier, releaseName, 'uat', { executionId: newId() });
  await app.as(app.application).post(200, '/api/release-candidates/release-event', report);
  return { releaseName, candidateId: id };
}
/** The verification as the comparison of the candidate with uat shows it. */
const verificationOf = async (candidateId: string): Promise<Json> =>
  (await app.as(app.member).post(200, `/api/release-candidates/${candidateId}/compare`, { environmentName: 'uat' }))
    .verification;
const reached = (candidateId: string, state: string): Promise<Json> =>
  eventually(
    () => verificationOf(candidateId),
    (shown) => shown?.state === state,
  );
const eventsOf = async (event: string, releaseName: string): Promise<Json[]> => {
  const rows = await app.sql<{ payload: Json }>('select payload from webhook_delivery where event = ?', [event]);
  return rows.map(({ payload }) => payload).filter((data) => JSON.stringify(data).includes(`"${releaseName}"`));
};
/** Has the time of the checks of a verification pass. */
async function pass(id: string, minutes: number): Promise<void> {
  await app.sql(`update verification set begun_at = begun_at - ? * interval '1 minute' where id = ?`, [minutes, id]);
  const input = { ...app.tenantKey, verificationId: id };
  await app.launch.signal(verificationContract, input, verificationChangedSignal);
}
const toProd = (releaseName: string, status: number): Promise<Json> =>
  app.as(app.owner).post(status, '/api/flows/run', {
    payload: { id: 'execute-release', repositoryIdentifier, domain: 'core', releaseName, environmentName: 'prod' },
  });

test('a deployment is verified by tests, a command and a metric, each shown with what it found', async () => {
  await setUat([{ type: 'apex-tests', classNames: ['SmokeTest'] }, GOOD, { ...METRIC, min: 1, max: 5 }]);
  const { releaseName, candidateId } = await deployed();
  const running = await eventually(
    () => verificationOf(candidateId),
    ({ checks }) => checks.filter(({ outcome }: Json) => outcome === 'passed').length === 2,
  );
  expect(running).toMatchObject({ state: 'running', checks: [{}, {}, { outcome: 'running', executionId: null }] });
  await pass(running.id, 61);
  await expect(reached(candidateId, 'verified')).resolves.toMatchObject({
    detail: null,
    rollback: null,
    checks: [
      { type: 'apex-tests', name: 'Apex tests SmokeTest', outcome: 'passed', executionId: expect.any(String) },
      { type: 'command', name: 'Command good', outcome: 'passed' },
      { type: 'metric', outcome: 'passed', detail: '48 values in 60 min were within the bounds' },
    ],
  });
  const [event] = await eventually(
    () => eventsOf('deployment.verified', releaseName),
    ({ length }) => length === 1,
  );
  expect(event).toMatchObject({ releaseName, environmentName: 'uat', verification: { state: 'verified' } });
  const { items } = await app.as(app.owner).get(200, '/api/audit?action=release.verification_succeeded');
  expect(items[0]).toMatchObject({ source: 'release', after: { id: running.id, state: 'verified' } });
  const { releases } = await app
    .as(app.owner)
    .get(200, `/api/releases?repositoryIdentifier=${encodeURIComponent(repositoryIdentifier)}`);
  expect(releases[0].environments[0].verification).toMatchObject({ state: 'verified' });
});

test('tests that fail in the org fail it, and say which', async () => {
  await setUat([{ type: 'apex-tests', classNames: ['SmokeTest'] }]);
  org.deployments.failingTests.set('SmokeTest.works', { message: 'Assertion Failed', times: 2 });
  const { releaseName, candidateId } = await deployed();
  const { detail } = await reached(candidateId, 'failed');
  expect(detail).toContain('Apex tests SmokeTest: 1 of 1 test methods failed: SmokeTest.works');
  org.deployments.failingTests.clear();
  await eventually(
    () => eventsOf('deployment.verification_failed', releaseName),
    ({ length }) => length === 1,
  );
  expect(await eventsOf('deployment.verified', releaseName)).toEqual([]);
});

test('a metric out of its bounds holds the release back from later environments until it is verified', async () => {
  await setUat([{ ...METRIC, max: 2 }], 'hold');
  const { releaseName, candidateId } = await deployed();
  const { id } = await reached(candidateId, 'running');
  await pass(id, 2);
  const { detail } = await reached(candidateId, 'failed');
  expect(detail).toMatch(/^Metric vector\(3\): 3 at .* is above 2$/);
  const held = await toProd(releaseName, 409);
  expect(held).toMatchObject({
    code: 'held',
    detail: expect.stringMatching(/is held since its verification in uat failed: Metric vector\(3\)/),
    hold: { source: 'verification', environmentName: 'uat', until: null },
  });
  await app.as(app.owner).post(409, '/api/flows/run', {
    payload: {
      id: 'execute-release',
      repositoryIdentifier,
      domain: 'core',
      releaseName,
      environmentName: 'prod',
      override: { reason: 'urgent' },
    },
  });
  const candidate = `/api/release-candidates/${candidateId}`;
  expect((await app.as(app.member).get(200, candidate)).hold).toMatchObject({ source: 'verification', reason: detail });
  await app.as(app.member).post(403, `${candidate}/release-hold`);
  await app.as(app.application).post(403, `${candidate}/release-hold`);
  await app.as(app.member).post(400, `/api/release-candidates/${candidateId}/verify`, { environmentName: 'prod' });
  const again = success(repositoryIdentifier, releaseName, 'uat', { executionId: newId() });
  await app.as(app.application).post(200, '/api/release-candidates/release-event', again);
  const { id: ofAgain } = await reached(candidateId, 'running');
  expect((await toProd(releaseName, 409)).code).toBe('held');
  await pass(ofAgain, 2);
  await reached(candidateId, 'failed');
  await setUat([GOOD], 'hold');
  await app.as(app.member).post(202, `/api/release-candidates/${candidateId}/verify`, { environmentName: 'uat' });
  await reached(candidateId, 'verified');
  expect((await app.as(app.member).get(200, candidate)).hold).toBeNull();
  await toProd(releaseName, 202);
  const [lifted] = await eventsOf('release.hold_lifted', releaseName);
  expect(lifted).toMatchObject({ source: 'verification', environmentName: 'uat', end: 'verified' });
  for (const path of [candidate, `/api/environments/${ids.uat}`]) {
    const { items } = await app.as(app.member).get(200, `${path}/timeline`);
    const ofHolds = items.filter((each: Json) => each.releaseName === releaseName && each.type.startsWith('h'));
    const where = { environmentId: ids.uat, environmentName: 'uat', until: null };
    expect(ofHolds).toMatchObject([
      { type: 'hold_lifted', status: 'verified', ...where },
      { type: 'held', ...where },
      { type: 'held', detail, ...where },
    ]);
  }
});

test('an owner lifts what a verification holds, and an environment that verifies no more still holds it', async () => {
  await setUat([BAD], 'hold');
  const { releaseName, candidateId } = await deployed();
  await reached(candidateId, 'failed');
  await app.as(app.owner).patch(200, `/api/environments/${ids.uat}`, { verification: null });
  expect((await toProd(releaseName, 409)).code).toBe('held');
  const { hold } = await app.as(app.owner).post(200, `/api/release-candidates/${candidateId}/release-hold`);
  expect(hold).toBeNull();
  await toProd(releaseName, 202);
});

test('a query that has no value, or cannot be answered, verifies nothing', async () => {
  await setUat([{ ...METRIC, query: 'never_sent_total', max: 2 }]);
  const nothing = await deployed();
  const { id } = await reached(nothing.candidateId, 'running');
  await pass(id, 61);
  expect((await reached(nothing.candidateId, 'failed')).detail).toContain('The query had no value in 60 min');
  await setUat([{ ...METRIC, query: 'sum(', max: 2 }]);
  const wrong = await deployed();
  await pass((await reached(wrong.candidateId, 'running')).id, 2);
  expect((await reached(wrong.candidateId, 'failed')).detail).toContain('The query was refused');
});

test('a rehearsal waits for calls of a mock scenario since the deployment', async () => {
  const mocks = mockStage(app);
  await mocks.armed('billing', [step('POST', '/invoices', {})]);
  await mocks.call('POST', '/invoices');
  await setUat([
    { type: 'rehearsal', workspace: mocks.workspace, scenario: 'billing', path: '/invoices', minutes: 60 },
  ]);
  const { candidateId } = await deployed();
  const { id } = await reached(candidateId, 'running');
  await pass(id, 0);
  expect(await verificationOf(candidateId)).toMatchObject({ state: 'running' });
  await mocks.call('POST', '/invoices');
  await eventually(
    async () => {
      await pass(id, 0);
      return verificationOf(candidateId);
    },
    ({ state }) => state === 'verified',
  );
});

test('what is replaced before its checks have ended is superseded, and never verified', async () => {
  await setUat([{ ...METRIC, max: 5 }]);
  const before = await deployed();
  await reached(before.candidateId, 'running');
  const after = await deployed();
  await expect(reached(before.candidateId, 'superseded')).resolves.toMatchObject({ checks: [{ outcome: 'skipped' }] });
  expect(await eventsOf('deployment.verified', before.releaseName)).toEqual([]);
  await pass((await reached(after.candidateId, 'running')).id, 61);
  await reached(after.candidateId, 'verified');
  await app
    .as(app.member)
    .post(202, `/api/release-candidates/${before.candidateId}/verify`, { environmentName: 'uat' });
  await reached(before.candidateId, 'superseded');
});

test('a check that is overdue fails the verification, and its run is cancelled', async () => {
  await setUat([{ type: 'command', name: 'endless', timeoutMinutes: 5 }]);
  const { candidateId } = await deployed();
  const { id, checks } = await eventually(
    () => verificationOf(candidateId),
    (shown) => typeof shown?.checks[0]?.executionId === 'string',
  );
  const runId: string = checks[0].executionId;
  await eventually(
    () => app.as(app.member).get(200, `/api/flows/runs/${runId}`),
    ({ status }) => status === 'Running',
  );
  await pass(id, 6);
  await expect(reached(candidateId, 'failed')).resolves.toMatchObject({ checks: [{ outcome: 'failed' }] });
  await expect(endedRun(app, { id: runId })).resolves.toMatchObject({ status: 'Cancelled' });
});

test('a policy that asks for it lets a release go once it is verified, and may soak it from then on', async () => {
  await setUat([{ ...METRIC, max: 5 }]);
  await setProd({ after: ['uat'], requireVerified: true });
  const { releaseName, candidateId } = await deployed();
  const { id } = await reached(candidateId, 'running');
  expect((await toProd(releaseName, 409)).detail).toMatch(
    /prod takes a release once it is verified: in uat it goes on/,
  );
  await pass(id, 61);
  await reached(candidateId, 'verified');
  await setProd({ after: ['uat'], requireVerified: true, soakMinutes: 60, soakFrom: 'verified' });
  await app.sql(
    `update release_deployment set deployed_at = deployed_at - interval '2 hours', created_at = created_at - interval '2 hours'`,
  );
  expect((await toProd(releaseName, 409)).detail).toMatch(/deployed to uat for 60 min/);
  await setProd({ after: ['uat'], requireVerified: true, soakMinutes: 60 });
  await toProd(releaseName, 202);
  await setProd(null);
});

test('a failure takes the deployment back where that is asked for, and no rollback takes back another', async () => {
  await setUat([GOOD]);
  const first = await deployed();
  await reached(first.candidateId, 'verified');
  await setUat([BAD], 'rollback');
  const second = await deployed();
  const { rollback } = await reached(second.candidateId, 'failed');
  const run = await eventually(
    () => app.as(app.owner).get(200, `/api/flows/runs/${rollback.executionId}`),
    ({ status }) => status === 'Completed',
  );
  expect(run).toMatchObject({ taskType: 'rollback-release', payload: { toReleaseName: first.releaseName } });
  await expect(reached(first.candidateId, 'failed')).resolves.toMatchObject({
    rollback: { executionId: null, error: expect.stringContaining('was a rollback itself') },
  });
});

test('a check whose run was cancelled takes nothing back: nothing was found out', async () => {
  await setUat([GOOD]);
  await reached((await deployed()).candidateId, 'verified');
  await setUat([{ type: 'command', name: 'endless' }], 'rollback');
  const { candidateId } = await deployed();
  const {
    checks: [{ executionId }],
  } = await eventually(
    () => verificationOf(candidateId),
    (shown) => shown?.checks[0]?.executionId,
  );
  await app.as(app.owner).post(200, `/api/flows/runs/${executionId}/cancel`);
  await expect(reached(candidateId, 'failed')).resolves.toMatchObject({ rollback: { executionId: null } });
});

test('a failure does not take the deployment back to a release that is held', async () => {
  await setUat([GOOD]);
  const first = await deployed();
  await reached(first.candidateId, 'verified');
  await app.as(app.member).post(200, `/api/release-candidates/${first.candidateId}/hold`, { reason: 'price list' });
  await setUat([BAD], 'rollback');
  const second = await deployed();
  await expect(reached(second.candidateId, 'failed')).resolves.toMatchObject({
    rollback: { executionId: null, error: expect.stringMatching(/is held by .*: price list/) },
  });
});

test('a worker that dies between two looks loses nothing, and a verification without a workflow is found', async () => {
  await worker.stop();
  worker = await startWorker(app, SHARED);
  const dying = await startWorkerProcess(app, ['flows-v1']);
  await setUat([GOOD, { ...METRIC, max: 5 }]);
  const { candidateId } = await deployed();
  const { id } = await reached(candidateId, 'running');
  await dying.kill('SIGKILL');
  await worker.stop();
  worker = await startWorker(app, ['flows-v1', ...SHARED]);
  await pass(id, 61);
  await reached(candidateId, 'verified');
  const runs = await app.sql(`select 1 from flow_run r join verification_check c on c.run_id = r.id
    where c.verification_id = '${id}'`);
  expect(runs).toHaveLength(1);

  const lost = newId();
  await app.sql(
    `insert into verification (id, tenant_id, project_id, environment_id, deployment_id, on_failure, requested_by,
       created_at, updated_at)
     select ?, tenant_id, project_id, environment_id, deployment_id, on_failure, requested_by, now(),
       now() - interval '1 minute' from verification where id = ?`,
    [lost, id],
  );
  await app.sql(
    `insert into verification_check (id, tenant_id, verification_id, position, settings)
     select ?, tenant_id, ?, 0, settings from verification_check where verification_id = ? and position = 0`,
    [newId(), lost, id],
  );
  await eventually(
    () => verificationOf(candidateId),
    (shown) => shown.id === lost && shown.state === 'verified',
  );
});
