import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { onStop, reportReady, sentenceOf } from '../domain/process.ts';
import { ConfigError } from '../domain/shared/config.ts';
import { reconcileSchedules, SYSTEM_QUEUE } from '../workflows/schedules.ts';
import { createTemporalClient } from '../workflows/temporal-client.ts';
import { temporalLaunch } from '../workflows/temporal-launch.ts';
import { createBackend, createWorkerBackend } from './backend.ts';
import { startTelemetry } from './adapters/telemetry.ts';
import { chosenQueues, workerConfig } from './config.ts';
import { taskQueues } from './registry.ts';
import { sweepAll } from './system/sweep.activities.ts';
import { createFleet } from './worker.ts';

async function main(): Promise<void> {
  const config = workerConfig(process.env, process.argv.slice(2));
  const log = pino({ level: config.LOG_LEVEL, base: { process: 'worker' } });
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      if (level === 'ERROR') log.error(meta, message);
      else log.warn(meta, message);
    }),
    // The native core would write to the console in a form of its own.
    telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) } },
    // Signals are handled below, with the rest of the process.
    shutdownSignals: [],
  });
  const telemetry = startTelemetry('quayside-worker', config.OTEL_EXPORTER_OTLP_ENDPOINT);
  const engine = { address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE, plugins: telemetry.plugins };
  const client = createTemporalClient(engine);
  const launch = temporalLaunch(client, {
    queuePrefix: config.TASK_QUEUE_PREFIX,
    onError: (error) => log.warn({ err: error }, 'a signal failed; the sweep sends it again'),
  });
  const { deps, close } = createWorkerBackend(createBackend({ config, launch, log }), config);
  const queues = chosenQueues(taskQueues(deps), config.queues);
  const fleet = await createFleet({
    ...engine,
    queuePrefix: config.TASK_QUEUE_PREFIX,
    queues,
    bundlePath: config.WORKFLOW_BUNDLE,
  });
  const running = fleet.run();

  onStop(log, async () => {
    fleet.stop();
    await running;
    await Promise.all([close(), client.connection.close()]);
    await telemetry.shutdown();
  });
  if (queues.some(({ taskQueue }) => taskQueue === SYSTEM_QUEUE)) {
    await reconcileSchedules(client, config.TASK_QUEUE_PREFIX);
    await sweepAll(deps);
  }
  const names = queues.map(({ taskQueue }) => taskQueue);
  log.info({ queues: names }, 'working');
  reportReady({ queues: names });
  await running;
}

main().catch((error: unknown) => {
  process.stderr.write(sentenceOf(error, ConfigError));
  process.exit(1);
});
