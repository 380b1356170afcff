import type { WorkerBackend } from '../../../../activities/backend.ts';
import {
  agedRecordingsSweep,
  browserSessionsSweep,
  silentHostsChore,
  strayBrowsersSweep,
} from '../../../../activities/review/browser-sessions/browser-sessions.sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { recordingKey } from '../../../../domain/review/browser-sessions/recordings/local-recordings.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import type { Launch } from '../../../../workflows/launch.ts';
import { type BrowserbaseSimulator, browserbaseSimulator } from '../../../simulators/browserbase/simulator.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { addHost } from '../../../support/browser-sessions.ts';
import { idleEngine } from '../../../support/launch.ts';
import { recordedSession } from '../../../support/recorded-session.ts';

let app: TestApp;
let simulator: BrowserbaseSimulator;
let worker: WorkerBackend;
let projectId: string;

beforeAll(async () => {
  simulator = await browserbaseSimulator();
  app = await testApp({ launch: idleEngine, env: { BROWSER_PROVIDER_TIMEOUT_SECONDS: '2' } });
  worker = activityDeps(app);
  const owner = app.as(app.owner);
  ({ id: projectId } = await owner.post(201, '/api/projects', { identifier: 'acme/shop', platform: 'host-a' }));
  await owner.post(201, '/api/integrations', {
    kind: 'browser',
    name: 'Browsers',
    baseUrl: simulator.url,
    credentials: { type: 'token', token: simulator.apiKey },
  });
});
afterAll(async () => {
  await worker.close();
  await app.close();
  await simulator.close();
});

/** A browser that runs at the provider. @param marks what is said of it there. */
async function running(marks: Record<string, string>): Promise<string> {
  const headers = { 'x-bb-api-key': simulator.apiKey };
  const body = JSON.stringify({ userMetadata: marks });
  const created = await fetch(`${simulator.url}/v1/sessions`, { method: 'POST', headers, body });
  return ((await created.json()) as { id: string }).id;
}
const marksOf = (sessionId: string) => ({
  quaysideSession: sessionId,
  quaysideTenant: app.tenant.id,
  quaysideProject: projectId,
});
const setStatus = (sessionId: string, status: string) =>
  app.sql('update browser_session set status = ? where id = ?', [status, sessionId]);

test('hosted browsers that bear our mark and have no open session are ended, all others left alone', async () => {
  const open = await recordedSession(app, { projectId, provider: 'browserbase' });
  await setStatus(open, 'live');
  const ended = await recordedSession(app, { projectId, provider: 'browserbase' });
  const ofOpen = await running(marksOf(open));
  const strays = [await running(marksOf(ended)), await running(marksOf(newId()))];
  const others = [
    await running({}),
    await running({ ...marksOf(ended), quaysideTenant: newId() }),
    await running({ ...marksOf(ended), quaysideProject: newId() }),
  ];
  expect(await runSweep(worker.deps, strayBrowsersSweep)).toMatchObject({ handled: 2, failed: 0 });
  const statusOf = (id: string) => simulator.sessions.find((each) => each.id === id)?.status;
  expect(strays.map(statusOf)).toEqual(['COMPLETED', 'COMPLETED']);
  expect([ofOpen, ...others].map(statusOf)).toEqual(['RUNNING', 'RUNNING', 'RUNNING', 'RUNNING']);
  expect(await runSweep(worker.deps, strayBrowsersSweep)).toMatchObject({ handled: 0, failed: 0 });
  await setStatus(open, 'ended');
});

test('a provider that does not release a stray browser is asked again', async () => {
  const ended = await recordedSession(app, { projectId, provider: 'browserbase' });
  const stray = await running(marksOf(ended));
  simulator.always(`POST /v1/sessions/${stray}`, { kind: 'status', status: 500 });
  expect(await runSweep(worker.deps, strayBrowsersSweep)).toMatchObject({ failed: 1 });
  simulator.reset();
  await app.sql('delete from sweep_failure');
  const again = await running(marksOf(ended));
  expect(await runSweep(worker.deps, strayBrowsersSweep)).toMatchObject({ failed: 0 });
  expect(simulator.sessions.find(({ id }) => id === again)?.status).toBe('COMPLETED');
});

test('recordings go when they have been kept long enough', async () => {
  const [aged, recent] = [await recordedSession(app, { projectId }), await recordedSession(app, { projectId })];
  await app.sql(`update browser_session set ended_at = now() - interval '31 days' where id = ?`, [aged]);
  await app.sql(`update browser_session set ended_at = now() - interval '29 days' where id = ?`, [recent]);
  expect(await runSweep(worker.deps, agedRecordingsSweep)).toMatchObject({ handled: 1, failed: 0 });
  const sizeOf = (sessionId: string, file: string) =>
    app.objects.sizeOf(recordingKey({ tenantId: app.tenant.id, sessionId }, 0, file));
  expect(await Promise.all(['playlist.m3u8', 'segment-00000.m4s'].map((file) => sizeOf(aged, file)))).toEqual([
    undefined,
    undefined,
  ]);
  expect(await sizeOf(recent, 'segment-00000.m4s')).toBe(10);
  await expect(app.as(app.owner).get(200, `/api/browser-sessions/${aged}`)).resolves.toMatchObject({
    recording: { state: 'expired', bytes: 0 },
  });
  await app.as(app.owner).get(404, `/api/browser-sessions/${aged}/replays/0`);
  await app.as(app.owner).get(200, `/api/browser-sessions/${recent}/replays/0`);
  expect(await runSweep(worker.deps, agedRecordingsSweep)).toMatchObject({ handled: 0 });
});

test('hosts that have been silent for a day are forgotten; sessions that ran on them stay', async () => {
  const [gone, silent] = [newId(), newId()];
  for (const id of [gone, silent]) await addHost(app, { id, queue: `browser-host-${id}` });
  await app.sql(`update browser_host set seen_at = now() - interval '25 hours' where id = ?`, [gone]);
  await app.sql(`update browser_host set seen_at = now() - interval '1 hour' where id = ?`, [silent]);
  const session = await recordedSession(app, { projectId });
  await app.sql('update browser_session set host_id = ? where id = ?', [gone, session]);
  expect(await runSweep(worker.deps, silentHostsChore)).toMatchObject({ handled: 1 });
  expect(await app.sql('select id from browser_host')).toEqual([{ id: silent }]);
  await app.as(app.owner).get(200, `/api/browser-sessions/${session}`);
});

test('sessions whose workflow was not started, or missed their expiry, are launched; those that are in hand are not', async () => {
  await app.sql('update browser_session set seen_at = now()');
  const session = (isLive: boolean) => recordedSession(app, { projectId, isLive, recordingState: 'none' });
  const set = (id: string, facts: string) => app.sql(`update browser_session set ${facts} where id = ?`, [id]);
  const ago = (seconds: number) => `now() - interval '${seconds} seconds'`;
  const [unseen, overdue, recent, awake, inHand] = [
    await session(false),
    await session(true),
    await session(false),
    await session(true),
    await session(true),
  ];
  await set(unseen, `status = 'provisioning', created_at = ${ago(31)}`);
  await set(overdue, `expires_at = ${ago(31)}, seen_at = ${ago(31)}`);
  await set(recent, `status = 'provisioning', created_at = ${ago(5)}`);
  await set(awake, `expires_at = ${ago(31)}, seen_at = now()`);
  await set(inHand, `seen_at = ${ago(31)}`);

  const launched: unknown[] = [];
  const launch: Launch = { ...idleEngine, signalWithStart: async (_contract, input) => void launched.push(input) };
  const sweep = browserSessionsSweep();
  expect(await runSweep({ ...worker.deps, launch }, sweep)).toMatchObject({ handled: 2, failed: 0 });
  const key = { ...app.tenantKey, repositoryIdentifier: 'acme/shop', subject: 'review@example.com' };
  expect(launched).toHaveLength(2);
  expect(launched).toEqual(expect.arrayContaining([unseen, overdue].map((sessionId) => ({ ...key, sessionId }))));
});
