import type { WorkerBackend } from '../../../../activities/backend.ts';
import { recordingKey } from '../../../../domain/review/browser-sessions/recordings/local-recordings.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { sessionStage, startBrowserHost, startSessionWorkers } from '../../../support/browser-sessions.ts';
import { FakeBrowsers } from '../../../support/fake-browsers.ts';
import { recordedSession } from '../../../support/recorded-session.ts';
import { eventually, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let backend: WorkerBackend;
let browsers: FakeBrowsers;
const workers: TestWorker[] = [];
beforeAll(async () => {
  app = await testApp();
  backend = activityDeps(app);
  browsers = new FakeBrowsers('local');
  const stored = backend.deps.browsers.findReplays('local');
  if (!stored) throw new Error('recordings of local browsers are not found');
  browsers.removeRecording = (ref) => stored.removeRecording(ref, new AbortController().signal);
  workers.push(await startSessionWorkers(app, [browsers]), await startBrowserHost(app, browsers));
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await backend.close();
  await app.close();
});

const owner = () => app.as(app.owner);
async function projectWithSessions() {
  const stage = await sessionStage(app);
  const path = `/api/projects/${encodeURIComponent(stage.repositoryIdentifier)}`;
  return { stage, path, projectId: (await owner().get(200, path)).id as string };
}

test('a project goes when the browsers of its sessions have ended and their recordings are removed', async () => {
  const { stage, path, projectId } = await projectWithSessions();
  const { id: live } = await stage.record(await stage.pullRequest());
  await stage.becomes(live, 'live');
  const recorded = await recordedSession(app, { projectId });
  const isStored = async () => {
    const key = recordingKey({ tenantId: app.tenant.id, sessionId: recorded }, 0, 'segment-00000.m4s');
    return (await app.objects.sizeOf(key)) !== undefined;
  };
  expect(await isStored()).toBe(true);
  browsers.releaseFailures = 3;
  const refused = await owner().delete(409, path);
  expect(refused).toMatchObject({ code: 'in_progress', detail: expect.stringContaining('ask again') });
  for (const id of [live, recorded]) await stage.read(id, 404);
  await owner().get(200, path);
  await eventually(
    () => owner().send('DELETE', path),
    ({ status }) => status === 204,
  );
  expect(browsers.released).toContain(live);
  expect(await isStored()).toBe(false);
  await owner().get(404, path);
  await expect(app.sql('select id from browser_session where project_id = ?', [projectId])).resolves.toEqual([]);
});

test('sessions of which nothing is left, or that nobody released within their cap, do not keep a project', async () => {
  const { path, projectId } = await projectWithSessions();
  const session = () => recordedSession(app, { projectId, provider: 'browserbase', recordingState: 'none' });
  await app.sql('update browser_session set released_at = now() where id = ?', [await session()]);
  await app.sql(`update browser_session set created_at = now() - interval '61 minutes' where id = ?`, [
    await session(),
  ]);
  await owner().delete(204, path);
});
