import type { Server } from 'node:http';
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import { type Logger, pino } from 'pino';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { serveMetrics } from '../domain/metrics-server.ts';
import { collectAfterStart, onStop, reportReady, sentenceOf } from '../domain/process.ts';
import { refuseUnfenced } from '../domain/data/pool.ts';
import { UnfencedConnectionError } from '../domain/data/served-connection.ts';
import { ConfigError } from '../domain/shared/config.ts';
import { SYSTEM_QUEUE } from '../workflows/system/sweeper.contract.ts';
import { createTemporalClient } from '../workflows/temporal-client.ts';
import { deploymentName } from '../workflows/temporal-deployments.ts';
import { temporalLaunch } from '../workflows/temporal-launch.ts';
import { ensureSearchAttributes, SearchAttributesError } from '../workflows/temporal-search-attributes.ts';
import { createBackend, createWorkerBackend, databaseAccess, refuseUnfitMetricsStore } from './backend.ts';
import { startTelemetry } from './adapters/telemetry.ts';
import { workerConfig, type WorkerConfig } from './config.ts';
import { taskQueues } from './registry.ts';
import { startSweeper } from './system/start-sweeper.ts';
import { createFleet } from './worker.ts';
import { bundleFolder, ensureBundle } from './workflow-bundle.ts';

async function main(): Promise<void> {
  const config = workerConfig(process.env, process.argv.slice(2));
  const log = pino({
    level: config.LOG_LEVEL,
    base: { process: 'worker' },
    // Temporal's SDK passes a failure as `error`, which would be written as an empty object.
    serializers: { error: pino.stdSerializers.err },
  });
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // The task queue of a process's own programs has none on purpose.
      if (message.startsWith('No workflows registered')) return;
      if (level === 'ERROR') log.error(meta, message);
      else log.warn(meta, message);
    }),
    // The native core would write to the console in a form of its own.
    telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) } },
    // Signals are handled below, with the rest of the process.
    shutdownSignals: [],
  });
  await refuseUnfenced(databaseAccess(config));
  await refuseUnfitMetricsStore(config);
  const telemetry = await startTelemetry('quayside-worker', config.OTEL_EXPORTER_OTLP_ENDPOINT);
  const engine = { address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE, plugins: telemetry.plugins };
  const client = createTemporalClient(engine);
  if ((await ensureSearchAttributes(client)) === 'unchecked')
    log.warn('the search attributes of the namespace could not be listed');
  const launch = temporalLaunch(client, { queuePrefix: config.TASK_QUEUE_PREFIX, log });
  const { deps, close } = createWorkerBackend(createBackend({ config, launch, log }), config);
  const queues = taskQueues(deps, config.queues);
  const bundlePath = await ensureBundle({
    folder: bundleFolder(config),
    isTraced: telemetry.plugins.length > 0,
  });
  const build = buildOf(config);
  const fleet = await createFleet({
    ...engine,
    queuePrefix: config.TASK_QUEUE_PREFIX,
    queues,
    bundlePath,
    version: build,
  });
  const running = fleet.run();
  const metricsServer = await startMetrics(deps.metrics, config, log, fleet.isPolling);
  let sweeper: { stop: () => void } | undefined;

  onStop(log, async () => {
    fleet.stop();
    sweeper?.stop();
    metricsServer?.close();
    await running;
    await Promise.all([close(), client.connection.close()]);
    await telemetry.shutdown();
  });
  const isSystemWorker = queues.some(({ taskQueue }) => taskQueue === SYSTEM_QUEUE);
  if (isSystemWorker) sweeper = await startSweeper(client, config.TASK_QUEUE_PREFIX, log, build);
  const names = queues.filter(({ isWithoutWorkflows }) => !isWithoutWorkflows).map(({ taskQueue }) => taskQueue);
  log.info({ queues: names }, 'working');
  reportReady({ queues: names });
  collectAfterStart();
  await running;
}

const buildOf = ({ TASK_QUEUE_PREFIX, WORKER_DEPLOYMENT_NAME, WORKER_BUILD_ID: buildId }: WorkerConfig) =>
  buildId === undefined
    ? undefined
    : { deploymentName: deploymentName(TASK_QUEUE_PREFIX, WORKER_DEPLOYMENT_NAME), buildId };

/** Work counts more than its figures: where the port is taken, as by the API on the same machine, there are none. */
async function startMetrics(
  metrics: Registry,
  { HOST, METRICS_PORT }: WorkerConfig,
  log: Logger,
  isHealthy: () => boolean,
): Promise<Server | undefined> {
  if (METRICS_PORT === 0) return undefined;
  collectDefaultMetrics({ register: metrics });
  try {
    return await serveMetrics(metrics, { host: HOST, port: METRICS_PORT, isHealthy });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    log.warn(`No metrics: the port ${METRICS_PORT} is taken; set METRICS_PORT to a free one, or to 0`);
    return undefined;
  }
}

main().catch((error: unknown) => {
  process.stderr.write(sentenceOf(error, ConfigError, SearchAttributesError, UnfencedConnectionError));
  process.exit(1);
});
