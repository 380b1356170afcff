import { UnfencedConnectionError } from '../../domain/kernel/data/served-connection.ts';
import { assertFenced } from '../../domain/kernel/data/pool.ts';
import { processLog } from '../../domain/process-log.ts';
import { collectAfterStart, onStop, reportReady, sentenceOf } from '../../domain/process.ts';
import { ConfigError } from '../../domain/kernel/settings/config.ts';
import { parseHostConfig } from '../../domain/kernel/settings/host-config.ts';
import { startTelemetry } from '../adapters/metrics/telemetry.ts';
import { hostDatabaseAccess } from '../database-access.ts';
import { installRuntime } from '../worker-runtime.ts';
import { runBrowserHost } from './browser-host.ts';

async function main(): Promise<void> {
  const config = parseHostConfig(process.env);
  const { log, outages } = processLog('browser-host', config.LOG_LEVEL);
  installRuntime(log, outages.reporter('temporal'));
  await assertFenced(hostDatabaseAccess(config), { isRoleAlone: config.isProduction });
  const telemetry = await startTelemetry('quayside-browser-host', config.OTEL_EXPORTER_OTLP_ENDPOINT);
  const host = await runBrowserHost({ config, log, outages, plugins: telemetry.plugins });
  onStop(log, async () => {
    await host.stop();
    await telemetry.shutdown();
  });
  if (host.trouble !== null) log.warn(host.trouble);
  log.info({ hostId: host.id, places: config.BROWSER_PLACES }, 'allocating browsers');
  reportReady({ hostId: host.id });
  collectAfterStart();
  await host.ended;
}

main().catch((error: unknown) => {
  process.stderr.write(sentenceOf(error, ConfigError, UnfencedConnectionError));
  process.exit(1);
});
