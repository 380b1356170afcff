import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { browserSessionContract } from '../../../../workflows/review/browser-sessions/browser-session.contract.ts';
import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import {
  SESSIONS_PATH as PATH,
  type SessionStage,
  sessionStage,
  startBrowserHost,
  startSessionWorkers,
} from '../../../support/browser-sessions.ts';
import { FakeBrowsers } from '../../../support/fake-browsers.ts';
import { eventually, type TestWorker } from '../../../support/worker.ts';

const TROUBLE = 'There is no ffmpeg: nothing is recorded';
let app: TestApp;
let stage: SessionStage;
const workers: TestWorker[] = [];
const temporal = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
beforeAll(async () => {
  app = await testApp();
  const browsers = new FakeBrowsers('local');
  const host = { id: newId(), queue: `browser-host-${newId()}`, name: 'host-1', trouble: TROUBLE };
  workers.push(await startSessionWorkers(app, [browsers]), await startBrowserHost(app, browsers, host));
  stage = await sessionStage(app);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await temporal.connection.close();
  await app.close();
});

test('a host without ffmpeg allocates browsers that are not recorded, says why, and operators see it at work', async () => {
  const prNumber = await stage.pullRequest();
  const { id } = await stage.record(prNumber);
  const session = await stage.becomes(id, 'live');
  expect(session.recording).toEqual({ state: 'none', pages: 0, bytes: 0, reason: TROUBLE });

  const { repositoryIdentifier } = stage;
  const subject = `PR ${prNumber}`;
  const input = { ...app.tenantKey, sessionId: id, repositoryIdentifier, subject };
  const handle = temporal.workflow.getHandle(app.launch.idOf(browserSessionContract, input));
  const described = await handle.describe();
  await expect(described.staticSummary()).resolves.toBe(`Session of ${subject} of ${repositoryIdentifier}`);
  const details = () =>
    handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata').then((shown) => shown.currentDetails);
  await eventually(details, (shown) => shown === `live until ${session.expires_at}; step: hold; host: host-1`);

  const stopped = await app.as(app.owner).post(200, `${PATH}/${id}/stop`);
  expect(stopped.recording).toMatchObject({ state: 'none', reason: TROUBLE });
  await expect(handle.result()).resolves.toBeUndefined();
  await expect(details()).resolves.toBe('ended (stopped); step: done; host: host-1');
});
