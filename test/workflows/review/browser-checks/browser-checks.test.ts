import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import type { BrowserHost } from '../../../../activities/browser-host/browser-host.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type CrmSimulator, crmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { startRealHost } from '../../../support/browser-host.ts';
import type { Json } from '../../../support/client.ts';
import { endedRun } from '../../../support/ended-run.ts';
import { mirrored, type MirroredProject } from '../../../support/mirrored.ts';
import { cutRelease, success } from '../../../support/releases.ts';
import { newRepository, removeRepositories, type TestRepository } from '../../../support/repository.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorker } from '../../../support/worker.ts';

const OTHERS = ['flows-v1', 'releases-v1', 'approvals-v1', 'environment-locks-v1', 'git-v1', 'system-v1'];
const SESSIONS = '/api/browser-sessions';
const PAGE = `<title>Orders</title><button onclick="document.body.dataset.saved = 1">Save</button>`;

let crm: CrmSimulator;
let org: SimulatedOrg;
let app: TestApp;
let host: BrowserHost;
let site: Server;
let url: string;
let remote: TestRepository;
let project: MirroredProject;
let uat: string;
const visits: string[] = [];
const workers: TestWorker[] = [];
const logged: string[] = [];

beforeAll(async () => {
  site = createServer(({ url: path = '' }, response) => {
    if (path !== '/favicon.ico') visits.push(path);
    response.setHeader('content-type', 'text/html');
    response.end(PAGE);
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const lines = new PassThrough();
  lines.on('data', (line: Buffer) => logged.push(line.toString()));
  remote = newRepository();
  remote.commit({ files: { 'app/a': '0' } });
  crm = await crmSimulator([]);
  org = await crm.addOrg({ name: 'uat', kind: 'sandbox' });
  app = await testApp({ env: { OUTBOUND_ALLOW: '127.0.0.0/8', SERVICE_PACE: '0.05', ALLOW_LOCAL_GIT: 'true' } });
  workers.push(await startWorker(app, OTHERS), await startWorker(app, ['crm-v1']));
  host = await startRealHost(app, {}, pino({ level: 'trace' }, lines));
  project = await mirrored(app, remote, { configuration: { approvalPolicy: { skipApproval: true } } });
  const owner = app.as(app.owner);
  await owner.post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
  const { repositoryIdentifier } = project;
  const environment = { repositoryIdentifier, name: 'uat', category: 'test', orgUsername: org.username };
  uat = (await owner.post(201, '/api/environments', environment)).id;
});
afterAll(async () => {
  await stopHost();
  await Promise.all(workers.map((worker) => worker.stop()));
  await app.close();
  await crm.close();
  site.closeAllConnections();
  site.close();
  removeRepositories();
});

let stopping: Promise<void> | undefined;
const stopHost = () => (stopping ??= host.stop());

const CLICK = { type: 'click', target: 'main', selectors: [['aria/Save'], ['button']], offsetX: 4, offsetY: 4 };
const isSaved = (count = 1) => ({
  type: 'waitForElement',
  selectors: ['body'],
  attributes: { 'data-saved': String(count) },
  timeout: 3_000,
});
const recordingOf = (page: string, ...steps: object[]) => ({
  title: `Save of ${page}`,
  steps: [{ type: 'navigate', url: `${url}/${page}?key=SECRET` }, ...steps],
});
const setUat = (check: object, onFailure = 'notify') =>
  app.as(app.owner).patch(200, `/api/environments/${uat}`, {
    verification: { checks: [{ type: 'browser-check', ...check }], onFailure },
  });

let made = 0;
async function deployed(commitSha?: string): Promise<string> {
  const releaseName = `r${++made}`;
  const more = { value: { artifacts: { app: `1.0.0-${made}` } }, ...(commitSha !== undefined && { commitSha }) };
  const { id } = await cutRelease(app, project.repositoryIdentifier, releaseName, more);
  const report = success(project.repositoryIdentifier, releaseName, 'uat', { executionId: newId() });
  await app.as(app.application).post(200, '/api/release-candidates/release-event', report);
  return id;
}
const verificationOf = async (candidateId: string): Promise<Json> =>
  (await app.as(app.member).post(200, `/api/release-candidates/${candidateId}/compare`, { environmentName: 'uat' }))
    .verification;
/** How often an org may open too late on a machine that is busy. */
const TRIES = 3;
/** The verification once it has ended; where the org did not open in time, another one. */
async function verified(candidateId: string, triesLeft = TRIES - 1): Promise<Json> {
  const shown = await eventually(
    () => verificationOf(candidateId),
    (now) => now?.state === 'verified' || now?.state === 'failed',
  );
  if (triesLeft === 0 || !/The page did not load/.test(shown.detail)) return shown;
  await app.as(app.owner).post(202, `/api/release-candidates/${candidateId}/verify`, { environmentName: 'uat' });
  return verified(candidateId, triesLeft - 1);
}
const runOf = (id: string): Promise<Json> => app.as(app.owner).get(200, `/api/flows/runs/${id}`);
const sessionOf = (id: string): Promise<Json> => app.as(app.owner).get(200, `${SESSIONS}/${id}`);
const start = (recording: object, status = 202): Promise<Json> =>
  app.as(app.owner).post(status, '/api/flows/run', {
    payload: {
      id: 'run-browser-check',
      repositoryIdentifier: project.repositoryIdentifier,
      environmentName: 'uat',
      recording,
    },
  });
const isVisited = (page: string) => visits.some((path) => path.startsWith(`/${page}`));
/** A run whose first step was played, and its session; where the org did not open in time, another run. */
async function playing(page: string, ...steps: object[]): Promise<{ run: Json; sessionId: string }> {
  for (let tries = 1; ; tries++) {
    const run = await start(recordingOf(page, ...steps));
    const { success: end } = await eventually(
      () => runOf(run.id),
      (now) => isVisited(page) || now.success !== null,
    );
    if (!isVisited(page) && /did not load/.test(end?.error) && tries < TRIES) continue;
    const [session] = await app.sql<{ id: string }>('select id from browser_session where flow_run_id = ?', [run.id]);
    return { run, sessionId: session?.id ?? '' };
  }
}

test('a recording that is played to its end verifies the deployment, and its replay can be watched', async () => {
  await setUat({ recording: recordingOf('good', CLICK, isSaved()) });
  const shown = await verified(await deployed());
  const check = { type: 'browser-check', name: 'Browser check Save of good', outcome: 'passed' };
  expect(shown).toMatchObject({ state: 'verified', detail: null, checks: [check] });
  const [{ executionId, browserSessionId }] = shown.checks;
  const { taskType, result } = await runOf(executionId);
  expect(taskType).toBe('run-browser-check');
  expect(result).toMatchObject({
    sessionId: browserSessionId,
    title: 'Save of good',
    failedStep: null,
    steps: [
      { number: 1, type: 'navigate', what: `navigate to ${url}/good`, state: 'passed' },
      { number: 2, type: 'click', what: 'click aria/Save', state: 'passed' },
      { number: 3, type: 'waitForElement', what: 'wait for body', state: 'passed' },
    ],
  });
  const { text } = await app.as(app.owner).request(200, 'GET', `/api/flows/runs/${executionId}/output`);
  expect(text).toMatch(/^2\. click aria\/Save: passed after/m);
  const session = await eventually(
    () => sessionOf(browserSessionId),
    ({ recording }) => recording.state === 'ready',
  );
  expect(session).toMatchObject({ status: 'ended', statusReason: 'stopped', flowRunId: executionId });
  const texts = [JSON.stringify(result), text, ...logged];
  const rows = await app.sql<{ text: string }>(
    `select row_to_json(e)::text as text from browser_session_event e union all select row_to_json(a)::text from audit_entry a
       where a.action like 'browser_session%' or a.action like 'flow%'`,
  );
  const all = [...texts, ...rows.map((row) => row.text)].join('\n');
  expect(all).not.toContain('SECRET');
  for (const secret of crm.secrets) if (secret.includes('otp=')) expect(all).not.toContain(secret.split('otp=')[1]);
});

test('the file of a recording is that of the commit of the release, and what of it failed is said', async () => {
  const file = (...steps: object[]) => JSON.stringify(recordingOf('file', CLICK, ...steps));
  const commitSha = remote.commit({ files: { 'checks/save.json': file(isSaved(7), CLICK) } });
  remote.commit({ files: { 'checks/save.json': file(isSaved(1)) } });
  await project.fetch();
  await setUat({ path: 'checks/save.json' }, 'hold');
  const candidateId = await deployed(commitSha);
  const { state, detail, checks } = await verified(candidateId);
  expect([state, detail]).toEqual([
    'failed',
    'Browser check checks/save.json: Step 3 of 4, wait for body, failed: 1 element was there after 3 s; expected >= 1 with such attributes and properties',
  ]);
  const { result } = await runOf(checks[0].executionId);
  expect(result.steps.map((step: Json) => step.state)).toEqual(['passed', 'passed', 'failed', 'skipped']);
  expect(result.steps[2]).toMatchObject({ reason: 'assertion_failed' });
  const candidate = await app.as(app.member).get(200, `/api/release-candidates/${candidateId}`);
  expect(candidate.hold).toMatchObject({ source: 'verification' });
});

test('a file that is not there, or that is no recording, verifies nothing and takes nothing back', async () => {
  const commitSha = remote.commit({ files: { 'checks/bad.json': '{"title":"x","steps":[{"type":"customStep"}]}' } });
  await project.fetch();
  await setUat({ path: 'checks/bad.json' }, 'rollback');
  const bad = await verified(await deployed(commitSha));
  expect(bad.detail).toMatch(/bad\.json at \w{8} cannot be played: steps\/0.*customStep/);
  expect(bad.rollback).toMatchObject({ executionId: null, error: expect.stringContaining('only no result') });
  await setUat({ path: 'checks/none.json' });
  expect((await verified(await deployed(commitSha))).detail).toMatch(/There is no checks\/none\.json at/);
  await setUat({ path: 'checks/bad.json' });
  expect((await verified(await deployed())).detail).toMatch(/has no commit a{40}/);
});

test('a run that is cancelled plays no further, and its session ends with it', async () => {
  const never = { type: 'waitForExpression', expression: 'false', timeout: 120_000 };
  const { run, sessionId } = await playing('cancelled', never, CLICK);
  await app.as(app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
  await expect(endedRun(app, run)).resolves.toMatchObject({ status: 'Cancelled' });
  await eventually(
    () => sessionOf(sessionId),
    ({ status, statusReason }) => status === 'ended' && statusReason === 'cancelled',
  );
});

test('a session that a person stops is no failure of a step', async () => {
  const never = { type: 'waitForExpression', expression: 'false', timeout: 120_000 };
  const { run, sessionId } = await playing('stopped', never);
  await app.as(app.owner).post(200, `${SESSIONS}/${sessionId}/stop`);
  const { status, success: end, result } = await endedRun(app, run);
  expect([status, result.code, result.failedStep]).toEqual(['Failed', 'unknown_outcome', null]);
  expect(end.error).toMatch(/; 1 of 2 steps had passed$/);
});

test('what a lost worker has begun to play is not played again, and nobody says that it was verified', async () => {
  await workers.pop()?.stop();
  const dying = await startWorkerProcess(app, ['crm-v1']);
  const never = { type: 'waitForExpression', expression: 'false', timeout: 120_000 };
  await setUat({ recording: recordingOf('killed', never) }, 'rollback');
  const candidateId = await deployed();
  await eventually(
    async () => visits.filter((path) => path.startsWith('/killed')),
    ({ length }) => length === 1,
  );
  await dying.kill('SIGKILL');
  workers.push(await startWorker(app, ['crm-v1']));
  const { state, detail, rollback, checks } = await verified(candidateId);
  expect([state, rollback.executionId]).toEqual(['failed', null]);
  expect(detail).toMatch(/The worker that played the recording was lost/);
  expect((await sessionOf(checks[0].browserSessionId)).status).toBe('ended');
  expect(visits.filter((path) => path.startsWith('/killed'))).toHaveLength(1);
});

test('without a browser host nothing is verified, and runs are refused', async () => {
  await setUat({ recording: recordingOf('away', CLICK) }, 'rollback');
  await stopHost();
  const { state, detail, rollback } = await verified(await deployed());
  expect([state, rollback.executionId]).toEqual(['failed', null]);
  expect(detail).toMatch(/No browser host is running/);
  expect(await start(recordingOf('refused'), 409)).toMatchObject({ code: 'flow_unavailable' });
});
