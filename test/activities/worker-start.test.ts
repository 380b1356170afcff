import { pino } from 'pino';
import { workerConfig } from '../../activities/config.ts';
import { runWorker } from '../../activities/running-worker.ts';
import { Outages } from '../../domain/kernel/system/outages.ts';

test('a worker that does not reach Temporal ends with a sentence that names the address', async () => {
  const env = {
    NODE_ENV: 'test',
    DATABASE_URL: 'postgres://127.0.0.1:1/quayside',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SERVICE_PACE: '0.01',
  };
  const log = pino({ level: 'silent' });
  await expect(runWorker({ config: workerConfig(env, []), log, outages: new Outages(log) })).rejects.toThrow(
    'Temporal does not answer at 127.0.0.1:1, the address in TEMPORAL_ADDRESS',
  );
});
