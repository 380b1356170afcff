import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { startTelemetry } from '../activities/adapters/metrics/telemetry.ts';
import { assertFenced } from '../domain/kernel/data/pool.ts';
import { UnfencedConnectionError } from '../domain/kernel/data/served-connection.ts';
import { ConfigError } from '../domain/kernel/settings/config.ts';
import { serveMetrics } from '../domain/metrics-server.ts';
import { processLog } from '../domain/process-log.ts';
import { collectAfterStart, onStop, reportReady, sentenceOf } from '../domain/process.ts';
import { assertFitMetricsStore } from '../activities/insight/parts.ts';
import { databaseAccess } from '../activities/database-access.ts';
import { createTemporalClient } from '../workflows/temporal-client.ts';
import { ensureSearchAttributes, SearchAttributesError } from '../workflows/temporal-search-attributes.ts';
import { temporalDependency } from '../workflows/temporal-dependency.ts';
import { temporalLaunch } from '../workflows/temporal-launch.ts';
import { apiConfig } from './config.ts';
import { createHttpMetrics } from './http/server/metrics.ts';
import { createApi } from './server.ts';

/** Time for requests in flight to finish when the process stops. */
const DRAIN_MS = 10_000;
const CLOSE_IDLE_EVERY_MS = 100;
const ENGINE_RETRY_MS = 5_000;

async function main(): Promise<void> {
  const config = apiConfig(process.env);
  const { log, outages } = processLog('api', config.LOG_LEVEL);
  await assertFenced(databaseAccess(config));
  await assertFitMetricsStore(config);
  const telemetry = await startTelemetry('quayside-api', config.OTEL_EXPORTER_OTLP_ENDPOINT);
  const client = createTemporalClient({
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    plugins: telemetry.plugins,
    pace: config.SERVICE_PACE,
  });
  const metrics = createHttpMetrics();
  const engine = temporalDependency(client, config.TEMPORAL_ADDRESS);
  outages.watch(engine);
  const launch = temporalLaunch(client, {
    queuePrefix: config.TASK_QUEUE_PREFIX,
    log,
    onAway: outages.reporter('temporal'),
  });
  const api = createApi({
    config,
    log,
    metrics,
    launch,
    outages,
    dependencies: [engine],
  });
  const metricsServer =
    config.METRICS_PORT === 0
      ? undefined
      : await serveMetrics(metrics.registry, { host: config.HOST, port: config.METRICS_PORT });
  await new Promise<void>((resolve, reject) => {
    api.server.once('error', reject).listen(config.PORT, config.HOST, resolve);
  });
  log.info({ url: config.publicUrl }, 'listening');
  void checkSearchAttributes(client, log);
  reportReady({ url: config.publicUrl });
  collectAfterStart();

  onStop(log, async () => {
    api.announceStop();
    metricsServer?.close();
    const drained = new Promise<void>((resolve) => void api.server.close(() => resolve()));
    api.server.closeIdleConnections();
    api.closeSockets();
    // A connection on which a request was under way stays open behind its answer.
    const closing = setInterval(() => api.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
    const cut = setTimeout(() => api.server.closeAllConnections(), DRAIN_MS);
    await drained;
    clearInterval(closing);
    clearTimeout(cut);
    await api.disconnect();
    await client.connection.close();
    await telemetry.shutdown();
  });
}

/** Workers refuse to start without the search attributes; the API serves what needs no workflow, and says why. */
async function checkSearchAttributes(client: Client, log: Logger): Promise<void> {
  for (;;) {
    try {
      await ensureSearchAttributes(client);
      return;
    } catch (error) {
      if (error instanceof SearchAttributesError) {
        log.error(error.message);
        return;
      }
      await sleep(ENGINE_RETRY_MS, undefined, { ref: false });
    }
  }
}

main().catch((error: unknown) => {
  const isPortTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  process.stderr.write(
    isPortTaken
      ? `${(error as Error).message}: set PORT or METRICS_PORT to a free port.\n`
      : sentenceOf(error, ConfigError, UnfencedConnectionError),
  );
  process.exit(1);
});
