import { type TestApp, testApp } from './app.ts';
import { removeRepositories } from './repository.ts';
import { startWorker, type TestWorker } from './worker.ts';

/**
 * Starts an app that may read repositories of this machine, and a worker of some task queues, for the tests of a file;
 * afterwards both are stopped and the repositories removed.
 * @param use gets the app before the first test.
 */
export function withGitWorker(queues: readonly string[], use: (app: TestApp) => void): void {
  let app: TestApp;
  let worker: TestWorker;
  beforeAll(async () => {
    app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true' } });
    use(app);
    worker = await startWorker(app, queues);
  });
  afterAll(async () => {
    await worker.stop();
    await app.close();
    removeRepositories();
  });
}
