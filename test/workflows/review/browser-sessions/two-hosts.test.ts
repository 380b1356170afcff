import type { WorkerBackend } from '../../../../activities/backend.ts';
import { sessionIsLive } from '../../../../domain/review/browser-sessions/session-progress.mutations.ts';
import { SESSIONS } from '../../../../domain/review/browser-sessions/session-announcements.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import {
  addHost,
  type SessionStage,
  sessionStage,
  startBrowserHost,
  startSessionWorkers,
} from '../../../support/browser-sessions.ts';
import { FakeBrowsers } from '../../../support/fake-browsers.ts';
import { eventually, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let stage: SessionStage;
let backend: WorkerBackend;
let browsers: FakeBrowsers;
let host: TestWorker & { id: string };
let worker: TestWorker;
beforeAll(async () => {
  app = await testApp();
  backend = activityDeps(app);
  browsers = new FakeBrowsers('local');
  [worker, host] = [await startSessionWorkers(app, [browsers]), await startBrowserHost(app, browsers)];
  stage = await sessionStage(app);
});
afterAll(async () => {
  await Promise.all([worker.stop(), host.stop()]);
  await backend.close();
  await app.close();
});

const hostOf = async (id: string) => {
  const [row] = await app.sql<{ host_id: string }>('select host_id from browser_session where id = ?', [id]);
  return row?.host_id;
};

/** A session that another host made live while this one was still creating its browser. */
async function allocatedElsewhere() {
  const creating = Promise.withResolvers<void>();
  browsers.creating = creating.promise;
  const { id } = await stage.record(await stage.pullRequest());
  await eventually(
    () => hostOf(id),
    (hostId) => hostId === host.id,
  );
  const other = { id: newId(), queue: `browser-host-${newId()}` };
  await addHost(app, other);
  const allocated = { providerSessionId: `${other.id}/${id}`, isolation: 'jailed', host: other } as const;
  await backend.deps.actingAs(systemActor(app.tenantKey, SESSIONS))((tx) =>
    sessionIsLive(tx, id, allocated, { isPossible: false, reason: null }),
  );
  return { id, other, create: creating.resolve };
}

test('a host that comes back leaves its session to the other one that allocates it, and ends its own browser', async () => {
  const { id, other, create } = await allocatedElsewhere();
  create();
  await eventually(
    async () => browsers.released,
    (released) => released.includes(id),
  );
  expect(await hostOf(id)).toBe(other.id);
  await expect(stage.read(id)).resolves.toMatchObject({ status: 'live' });
});

test('it takes the session over when the other host is lost', async () => {
  const { id, other, create } = await allocatedElsewhere();
  await app.sql(`update browser_host set seen_at = now() - interval '1 hour' where id = ?`, [other.id]);
  create();
  await eventually(
    () => hostOf(id),
    (hostId) => hostId === host.id,
  );
  expect(browsers.allocated.has(id)).toBe(true);
});
