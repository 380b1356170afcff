import { browserSessionContract } from '../../../../workflows/review/browser-sessions/browser-session.contract.ts';
import { testApp } from '../../../support/app.ts';
import {
  SESSIONS_PATH as PATH,
  sessionStage,
  startBrowserHost,
  startSessionWorkers,
} from '../../../support/browser-sessions.ts';
import { FakeBrowsers } from '../../../support/fake-browsers.ts';
import { recording, replay } from '../../../support/histories.ts';

test('browser-session goes on with the code of today', () => replay('browser-session'));

/**
 * Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/review/browser-sessions/replay`. A session is allocated,
 * extended, refused an extension, stopped and released, and its recording is finished.
 */
recording('records the history', async ({ keep }) => {
  const app = await testApp();
  const browsers = new FakeBrowsers('local');
  const workers = [await startSessionWorkers(app, [browsers]), await startBrowserHost(app, browsers)];
  try {
    const stage = await sessionStage(app);
    const { id } = await stage.record(await stage.pullRequest());
    await stage.becomes(id, 'live');
    await app.as(app.owner).post(200, `${PATH}/${id}/extend`, { minutes: 60 });
    await app.as(app.owner).post(409, `${PATH}/${id}/extend`, { minutes: 1 });
    await app.as(app.owner).post(200, `${PATH}/${id}/stop`);
    const { repositoryIdentifier } = stage;
    const input = { ...app.tenantKey, sessionId: id, repositoryIdentifier, subject: 'PR' };
    await keep('browser-session', app.launch.idOf(browserSessionContract, input));
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await app.close();
  }
});
