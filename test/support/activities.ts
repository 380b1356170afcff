import { pino } from 'pino';
import { createBackend, createWorkerBackend, type WorkerBackend } from '../../activities/backend.ts';
import { workerConfig } from '../../activities/config.ts';
import { Outages } from '../../domain/kernel/system/outages.ts';
import type { TestApp } from './app.ts';

/** What activities reach, for a test that calls them itself; as in a worker on the app's database. */
export function activityDeps({ env, launch }: Pick<TestApp, 'env' | 'launch'>): WorkerBackend {
  const config = workerConfig({ ...env, DATABASE_POOL_SIZE: '4' }, []);
  const log = pino({ level: config.LOG_LEVEL });
  const backend = createWorkerBackend(createBackend({ config, launch, log, outages: new Outages(log) }));
  const held: WorkerBackend = {
    deps: backend.deps,
    async close() {
      await backend.close();
      Reflect.deleteProperty(held, 'deps');
    },
  };
  return held;
}
