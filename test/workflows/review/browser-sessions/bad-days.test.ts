import {
  SESSIONS_PATH as PATH,
  sessionStage,
  startBrowserHost,
  startSessionWorkers,
} from '../../../support/browser-sessions.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { FakeBrowsers } from '../../../support/fake-browsers.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const owner = () => app.as(app.owner);

test('a host that takes its work no more fails its session; what was recorded until then stays', async () => {
  const replays = new FakeBrowsers('local');
  replays.recording = { ...replays.recording, state: 'partial', reason: 'Its host was lost.' };
  const [worker, host] = [
    await startSessionWorkers(app, [replays]),
    await startBrowserHost(app, new FakeBrowsers('local')),
  ];
  try {
    const stage = await sessionStage(app);
    const { id } = await stage.record(await stage.pullRequest());
    await stage.becomes(id, 'live');
    await host.stop();
    // Its last heartbeat is long ago when that is asked.
    await app.sql(`update browser_host set seen_at = now() - interval '1 hour' where id = ?`, [host.id]);
    await expect(stage.becomes(id, 'error')).resolves.toMatchObject({ statusReason: 'host_lost' });
    const done = await eventually(
      () => stage.read(id),
      ({ recording }) => recording.state === 'partial',
    );
    expect(done.recording).toMatchObject({ pages: 2, reason: 'Its host was lost.' });
  } finally {
    await worker.stop();
  }
});

test('a worker that is killed loses no session of a worker outside: report and stop at once are one or the other', async () => {
  // Without one for flows: the pipeline could not be started here, and that would fail its session.
  const killed = await startWorkerProcess(app, ['environment-locks-v1']);
  let worker: TestWorker | undefined;
  try {
    const stage = await sessionStage(app);
    await owner().patch(200, `/api/projects/${encodeURIComponent(stage.repositoryIdentifier)}`, {
      configuration: { recordPipeline: { id: 'record.yml' } },
    });
    const sessions: Json[] = [];
    for (let n = 0; n < 3; n++) sessions.push(await stage.record(await stage.pullRequest()));
    const [kept, ...raced] = sessions.map(({ id }) => id as string);
    const report = (id: string, body: object) => app.as(app.application).send('PATCH', `${PATH}/${id}`, { body });
    expect((await report(kept ?? '', { status: 'live', providerSessionId: 'b1' })).status).toBe(200);
    await killed.kill('SIGKILL');
    worker = await startWorker(app, ['environment-locks-v1']);
    await expect(stage.read(kept ?? '')).resolves.toMatchObject({ status: 'live', providerSessionId: 'b1' });
    for (const id of raced) {
      const [reported, stopped] = await Promise.all([
        report(id, { status: 'live' }),
        owner().send('POST', `${PATH}/${id}/stop`),
      ]);
      expect([200, 409]).toContain(reported.status);
      expect(stopped.status).toBe(200);
      await expect(stage.read(id)).resolves.toMatchObject({ status: 'ended', statusReason: 'stopped' });
    }
    await app.sql(`update browser_session set expires_at = now() - interval '1 second' where id = ?`, [kept]);
    // Anything that wakes its workflow has it look at its row.
    await owner().send('POST', `${PATH}/${kept}/extend`, { body: { minutes: 1 } });
    await eventually(
      async () => {
        await report(kept ?? '', { providerSessionId: `b${Math.random()}` });
        return stage.read(kept ?? '');
      },
      ({ status }) => status === 'expired',
    );
  } finally {
    await killed.kill('SIGKILL');
    await worker?.stop();
  }
});

test('a session that was asked for while no worker was there is allocated when one comes', async () => {
  const hosted = new FakeBrowsers('browserbase');
  const stage = await sessionStage(app);
  const { repositoryIdentifier } = stage;
  await owner().post(201, '/api/integrations', {
    kind: 'browser',
    name: 'browserbase',
    repositoryIdentifier,
    credentials: { type: 'token', token: 'bb_key' },
  });
  const { id } = await stage.record(await stage.pullRequest());
  const worker = await startSessionWorkers(app, [hosted]);
  try {
    await expect(stage.becomes(id, 'live')).resolves.toMatchObject({ provider: 'browserbase', isolation: 'jailed' });
    hosted.close(id);
    await stage.becomes(id, 'ended');
  } finally {
    await worker.stop();
  }
});
