import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestApp, testApp } from '../../support/app.ts';
import { startWorkerProcess } from '../../support/worker.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: { SERVICE_PACE: '0.1' } });
});
afterAll(() => app.close());

const COUNT_THREADS = new URL('../../support/count-threads.ts', import.meta.url).href;

async function startCountedWorker(name: string) {
  const file = join(app.dataDir, name);
  const env = { ...app.env, NODE_OPTIONS: `--import=${COUNT_THREADS}`, THREADS_FILE: file };
  const worker = await startWorkerProcess({ ...app, env });
  return { worker, threads: () => readFileSync(file, 'utf8').trim().split('\n') };
}

// With another version of the SDK this fails when workers no longer ask `createWorkflowCreator` for their thread.
test('all queues of a worker process share one thread, which ends with the last of them', async () => {
  const { worker, threads } = await startCountedWorker('shared');
  expect(threads()).toHaveLength(1);
  expect(await worker.kill('SIGTERM')).toBe(0);
  expect(threads()).toHaveLength(1);
});

test('a worker whose thread is gone ends with an error, for its supervisor to start it again', async () => {
  const { worker } = await startCountedWorker('ended');
  // The sweeper brings a workflow task at the latest within its shortest interval.
  expect(await worker.kill('SIGUSR2')).toBe(1);
});
