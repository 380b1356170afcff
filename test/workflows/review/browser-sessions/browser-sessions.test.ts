import { type TestApp, testApp } from '../../../support/app.ts';
import {
  SESSIONS_PATH as PATH,
  type SessionStage,
  sessionStage,
  startBrowserHost,
  startSessionWorkers,
} from '../../../support/browser-sessions.ts';
import type { Json } from '../../../support/client.ts';
import { FakeBrowsers } from '../../../support/fake-browsers.ts';
import { insertWebhook } from '../../../support/factories.ts';
import { eventually, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let stage: SessionStage;
let browsers: FakeBrowsers;
const workers: TestWorker[] = [];
beforeAll(async () => {
  app = await testApp();
  browsers = new FakeBrowsers('local');
  workers.push(await startSessionWorkers(app, [browsers]), await startBrowserHost(app, browsers));
  stage = await sessionStage(app);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await app.close();
});
beforeEach(() => {
  browsers.creating = Promise.resolve();
  browsers.releaseFailures = 0;
  browsers.opensFrontDoor = false;
});

const owner = () => app.as(app.owner);
const stop = (id: string): Promise<Json> => owner().post(200, `${PATH}/${id}/stop`);
const isReleased = (id: string) =>
  eventually(
    async () => browsers.released.includes(id),
    (released) => released,
  );
const live = async (body: object = {}): Promise<Json> => {
  const { id } = await stage.record(await stage.pullRequest(), body);
  return stage.becomes(id, 'live');
};
/** Has the row end so soon, and its workflow look again. */
const endsIn = async (id: string, seconds: number) => {
  await app.sql(
    `update browser_session set expires_at = now() + make_interval(secs => ?), created_at = now() - interval '50 minutes' where id = ?`,
    [seconds, id],
  );
};

test('a session is allocated, watched, extended, stopped, released, and its recording is announced', async () => {
  await insertWebhook(app, { event: 'browser_session.*', events: ['browser_session.*'] });
  const number = await stage.pullRequest();
  const requested = await stage.record(number, {
    minutes: 5,
    startPath: '/lightning',
    allowedHosts: ['*.acme.example'],
  });
  expect(requested).toMatchObject({ status: 'provisioning', provider: 'local', prNumber: number, liveAt: null });
  const session = await stage.becomes(requested.id, 'live');
  expect(session).toMatchObject({
    providerSessionId: `fake-${session.id}`,
    isolation: 'jailed',
    liveViewUrl: `http://quayside.test/browser-sessions/${session.id}/live`,
    recording: { state: 'recording' },
  });
  expect(Date.parse(session.expires_at) - Date.parse(session.liveAt)).toBe(300_000);
  const { order } = browsers.allocated.get(session.id) ?? {};
  expect(order).toMatchObject({ allowedHosts: ['*.acme.example'], viewport: { width: 1_280, height: 720 } });
  // The same again is the same session.
  await expect(stage.record(number, {}, 200)).resolves.toMatchObject({ id: session.id });
  const extended = await owner().post(200, `${PATH}/${session.id}/extend`, { minutes: 10 });
  expect(Date.parse(extended.expires_at) - Date.parse(session.expires_at)).toBe(600_000);
  await eventually(
    async () => browsers.allocated.get(session.id)?.keptUntil.toISOString(),
    (until) => until === extended.expires_at,
  );
  await expect(stop(session.id)).resolves.toMatchObject({ status: 'ended', statusReason: 'stopped' });
  await isReleased(session.id);
  const done = await eventually(
    () => stage.read(session.id),
    ({ recording }) => recording.state === 'ready',
  );
  expect(done.recording).toEqual({ state: 'ready', pages: 2, bytes: 4_096, reason: null });
  expect(done.timeline.map(({ kind }: Json) => kind)).toEqual([
    'recording_ready',
    'released',
    'ended',
    'extended',
    'live',
    'host',
    'created',
  ]);
  await expect(stop(session.id)).resolves.toMatchObject({ status: 'ended' });
  await owner().post(409, `${PATH}/${session.id}/extend`, { minutes: 1 });
  const events = await app.sql<{ event: string }>(
    `select event from webhook_delivery where payload->>'sessionId' = ? order by created_at, event`,
    [session.id],
  );
  expect(events.map(({ event }) => event).toSorted()).toEqual([
    'browser_session.ended',
    'browser_session.live',
    'browser_session.recording_ready',
  ]);
  const run = await eventually(
    () => stage.run(session.flowRunId),
    ({ status }) => status === 'Completed',
  );
  expect(run).toMatchObject({ taskType: 'record-session', result: { sessionId: session.id, sessionStatus: 'ended' } });
});

test('stop while provisioning ends the session, and what was being allocated is not left behind', async () => {
  const creating = Promise.withResolvers<void>();
  browsers.creating = creating.promise;
  const { id } = await stage.record(await stage.pullRequest());
  await eventually(
    () => stage.read(id),
    ({ timeline }) => timeline.some(({ kind }: Json) => kind === 'host'),
  );
  await expect(stop(id)).resolves.toMatchObject({ status: 'ended', statusReason: 'stopped', liveAt: null });
  creating.resolve();
  await isReleased(id);
  expect(browsers.allocated.has(id)).toBe(false);
  await eventually(
    () => stage.read(id),
    ({ timeline }) => timeline[0].kind === 'released',
  );
});

test('a session expires by its timer, and the flow run that waits for it succeeds', async () => {
  const { id, flowRunId } = await live();
  await endsIn(id, 300);
  await owner().post(200, `${PATH}/${id}/extend`, { minutes: 1 });
  // Its workflow knows the new end; moved again, it is told to look.
  await endsIn(id, 0.1);
  await stage.wake(id);
  const expired = await stage.becomes(id, 'expired');
  expect(expired).toMatchObject({ statusReason: 'expired' });
  await isReleased(id);
  await eventually(
    () => stage.run(flowRunId),
    ({ status }) => status === 'Completed',
  );
});

test('a browser that closes by itself ends the session; one that the provider has lost fails it', async () => {
  const [closed, lost] = [await live(), await live()];
  browsers.close(closed.id);
  await expect(stage.becomes(closed.id, 'ended')).resolves.toMatchObject({ statusReason: 'browser_closed' });
  browsers.allocated.delete(lost.id);
  await expect(stage.becomes(lost.id, 'error')).resolves.toMatchObject({ statusReason: 'session_lost' });
  const run = await eventually(
    () => stage.run(lost.flowRunId),
    ({ status }) => status === 'Failed',
  );
  expect(run.success.error).toContain('The provider does not know the session');
});

test('a release that fails ten times is tried until it succeeds', async () => {
  const { id } = await live();
  browsers.releaseFailures = 10;
  browsers.releaseAttempts = 0;
  await expect(stop(id)).resolves.toMatchObject({ status: 'ended' });
  await isReleased(id);
  expect(browsers.releaseAttempts).toBe(11);
});

test('a session that is deleted is gone at once; the release is tried on, and recording and row are removed', async () => {
  const { id } = await live();
  browsers.releaseFailures = 3;
  await owner().delete(204, `${PATH}/${id}`);
  await stage.read(id, 404);
  await owner().delete(404, `${PATH}/${id}`);
  await eventually(
    () => app.sql('select id from browser_session where id = ?', [id]),
    (rows) => rows.length === 0,
  );
  expect(browsers.released).toContain(id);
  expect(browsers.removed).toContain(id);
  const { id: ended } = await live();
  await stop(ended);
  await isReleased(ended);
  await owner().delete(204, `${PATH}/${ended}`);
  await eventually(
    () => app.sql('select id from browser_session where id = ?', [ended]),
    (rows) => rows.length === 0,
  );
});

test('a session that is deleted while its recording is put in order is removed after that', async () => {
  const { recording } = browsers;
  browsers.recording = { state: 'processing', pages: [], bytes: 0, reason: null };
  const { id } = await live();
  await stop(id);
  await isReleased(id);
  await owner().delete(204, `${PATH}/${id}`);
  browsers.recording = recording;
  await eventually(
    () => app.sql('select id from browser_session where id = ?', [id]),
    (rows) => rows.length === 0,
  );
});

test('100 extensions at once never pass the cap', async () => {
  const { id, createdAt } = await live();
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => owner().send('POST', `${PATH}/${id}/extend`, { body: { minutes: 7 } })),
  );
  const answered = (status: number) => replies.filter((reply) => reply.status === status).length;
  // A busy machine does not answer all of them in time; they are made all the same.
  expect(answered(200) + answered(409) + answered(503)).toBe(100);
  // 15 minutes at first, from when it was live: 45 more by steps of 7, the last one cut.
  expect(answered(200)).toBeLessThanOrEqual(7);
  expect(answered(409)).toBeLessThanOrEqual(93);
  const timeline = async () => (await stage.read(id)).timeline.filter(({ kind }: Json) => kind === 'extended');
  await eventually(timeline, ({ length }) => length === 7);
  const { expires_at } = await stage.read(id);
  expect(Date.parse(expires_at) - Date.parse(createdAt)).toBe(3_600_000);
  await stop(id);
});

test('what the provider refuses for good fails the session; what may pass is tried again', async () => {
  browsers.createFailures = ['unavailable', 'rejected'];
  const { id } = await stage.record(await stage.pullRequest());
  await expect(stage.becomes(id, 'error')).resolves.toMatchObject({
    statusReason: 'provider_error',
    statusDetail: 'the provider says rejected',
  });
});

test('an org that opens no front door fails the session with the hint', async () => {
  browsers.opensFrontDoor = true;
  const { id } = await stage.record(await stage.pullRequest());
  const failed = await stage.becomes(id, 'error');
  expect(failed.statusReason).toBe('front_door_refused');
  expect(failed.statusDetail).toMatch(/Org org-\d+@acme\.example\.com/);
});

test('a session ends when its pull request gives the org back', async () => {
  const number = await stage.pullRequest();
  const { id } = await stage.record(number);
  await stage.becomes(id, 'live');
  const { items } = await owner().get(
    200,
    `/api/review/assignments?repositoryIdentifier=${encodeURIComponent(stage.repositoryIdentifier)}&state=active`,
  );
  const assignment = items.find(({ assignmentId }: Json) => assignmentId === String(number));
  await owner().post(200, `/api/review/assignments/${assignment.id}/release`);
  await expect(stage.read(id)).resolves.toMatchObject({ status: 'ended', statusReason: 'assignment_ended' });
  await isReleased(id);
});

test('the cancellation of the flow run stops the session', async () => {
  const { id, flowRunId } = await live();
  await owner().post(200, `/api/flows/runs/${flowRunId}/cancel`);
  await expect(stage.becomes(id, 'ended')).resolves.toMatchObject({ statusReason: 'cancelled' });
  await isReleased(id);
});

test('a run that names a pull request and no session makes one', async () => {
  const prNumber = await stage.pullRequest();
  const { repositoryIdentifier } = stage;
  const { id: runId } = await owner().post(202, '/api/flows/run', {
    payload: { id: 'record-session', repositoryIdentifier, prNumber },
  });
  const found = await eventually(
    () => owner().get(200, `${PATH}?prNumber=${prNumber}&status=live`),
    ({ items }) => items.length === 1,
  );
  expect(found.items[0]).toMatchObject({ flowRunId: runId, createdBy: app.owner.email });
  await stop(found.items[0].id);
  await eventually(
    () => stage.run(runId),
    ({ status }) => status === 'Completed',
  );
});
