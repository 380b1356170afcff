import type { Server } from 'node:http';
import type { Logger } from 'pino';
import { serveMetrics } from '../domain/metrics-server.ts';
import { processLog } from '../domain/process-log.ts';
import { collectAfterStart, onStop, reportReady, sentenceOf } from '../domain/process.ts';
import { assertFenced } from '../domain/kernel/data/pool.ts';
import { UnfencedConnectionError } from '../domain/kernel/data/served-connection.ts';
import { ConfigError } from '../domain/kernel/settings/config.ts';
import { EngineUnavailableError } from '../workflows/launch.ts';
import { SearchAttributesError } from '../workflows/temporal-search-attributes.ts';
import { assertFitMetricsStore } from './insight/parts.ts';
import { databaseAccess } from './database-access.ts';
import { startTelemetry } from './adapters/metrics/telemetry.ts';
import { workerConfig, type WorkerConfig } from './config.ts';
import { type RunningWorker, runWorker } from './running-worker.ts';
import { installRuntime } from './worker-runtime.ts';

async function main(): Promise<void> {
  const config = workerConfig(process.env, process.argv.slice(2));
  const { log, outages } = processLog('worker', config.LOG_LEVEL);
  installRuntime(log, outages.reporter('temporal'));
  await assertFenced(databaseAccess(config));
  await assertFitMetricsStore(config);
  const telemetry = await startTelemetry('quayside-worker', config.OTEL_EXPORTER_OTLP_ENDPOINT);
  const worker = await runWorker({ config, log, outages, plugins: telemetry.plugins });
  const metricsServer = await startMetrics(worker, config, log);
  onStop(log, async () => {
    metricsServer?.close();
    await worker.stop();
    await telemetry.shutdown();
  });
  await worker.startSweeping();
  log.info({ queues: worker.queues }, 'working');
  reportReady({ queues: worker.queues });
  collectAfterStart();
  await worker.ended;
}

/** A worker whose port is taken, as by the API on the same machine, runs without metrics. */
async function startMetrics(
  { metrics, isPolling }: RunningWorker,
  { HOST, METRICS_PORT }: WorkerConfig,
  log: Logger,
): Promise<Server | undefined> {
  if (METRICS_PORT === 0) return undefined;
  try {
    return await serveMetrics(metrics, { host: HOST, port: METRICS_PORT, isHealthy: isPolling });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    log.warn(`No metrics: the port ${METRICS_PORT} is taken; set METRICS_PORT to a free one, or to 0`);
    return undefined;
  }
}

main().catch((error: unknown) => {
  process.stderr.write(
    sentenceOf(error, ConfigError, EngineUnavailableError, SearchAttributesError, UnfencedConnectionError),
  );
  process.exit(1);
});
