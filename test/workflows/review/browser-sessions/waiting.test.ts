import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import {
  type SessionStage,
  sessionStage,
  startBrowserHost,
  startSessionWorkers,
} from '../../../support/browser-sessions.ts';
import type { Json } from '../../../support/client.ts';
import { FakeBrowsers } from '../../../support/fake-browsers.ts';
import { eventually, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let stage: SessionStage;
let browsers: FakeBrowsers;
let isPlaceFree: boolean;
const workers: TestWorker[] = [];
beforeAll(async () => {
  app = await testApp();
  browsers = new FakeBrowsers('local');
  const hasPlace = async () => isPlaceFree;
  const host = { id: newId(), queue: `browser-host-${newId()}`, name: 'host-1', hasPlace };
  workers.push(await startSessionWorkers(app, [browsers]), await startBrowserHost(app, browsers, host));
  stage = await sessionStage(app);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await app.close();
});

/** As if the session had been asked for so much earlier. */
const setBack = (id: string, seconds: number) =>
  app.sql(
    `update browser_session set created_at = created_at - make_interval(secs => ?),
       expires_at = expires_at - make_interval(secs => ?) where id = ?`,
    [seconds, seconds, id],
  );

test('a session that waited for a place longer than it was to last has all of its minutes once it is lent', async () => {
  isPlaceFree = false;
  const { id } = await stage.record(await stage.pullRequest(), { minutes: 1 });
  await setBack(id, 90);
  const freedAt = Date.now();
  isPlaceFree = true;
  const { liveAt, expires_at } = await stage.becomes(id, 'live');
  expect(Date.parse(expires_at) - Date.parse(liveAt)).toBe(60_000);
  const { expiresAt } = browsers.allocated.get(id)?.order ?? {};
  expect(expiresAt?.getTime()).toBeGreaterThanOrEqual(freedAt + 60_000);
});

test('a session for which no place was free for 5 minutes is given up, and was provisioned nowhere', async () => {
  isPlaceFree = false;
  const { id } = await stage.record(await stage.pullRequest());
  await setBack(id, 300);
  await stage.wake(id);
  const failed = await stage.becomes(id, 'error');
  expect(failed).toMatchObject({ statusReason: 'no_capacity', liveAt: null, recording: { state: 'none' } });
  const { timeline } = await eventually(
    () => stage.read(id),
    (session) => session.timeline[0].kind === 'released',
  );
  expect(timeline.map(({ kind }: Json) => kind)).toEqual(['released', 'failed', 'created']);
  expect(browsers.released).not.toContain(id);
});

test('a session that a host does not bring to life in 5 minutes is given up, and released there', async () => {
  isPlaceFree = true;
  browsers.creating = Promise.withResolvers<void>().promise;
  const { id } = await stage.record(await stage.pullRequest());
  await eventually(
    () => stage.read(id),
    ({ timeline }) => timeline[0].kind === 'host',
  );
  await setBack(id, 300);
  await stage.wake(id);
  await expect(stage.becomes(id, 'error')).resolves.toMatchObject({ statusReason: 'provisioning_timeout' });
  await eventually(
    async () => browsers.released,
    (released) => released.includes(id),
  );
  expect(browsers.allocated.has(id)).toBe(false);
});
