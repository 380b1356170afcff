import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { ensureBundle } from '../../activities/workflow-bundle.ts';
import { migrate } from '../../domain/migrate.ts';
import { startPostgres } from '../../tools/embedded-postgres.ts';
import { startMetricsStore } from '../../tools/metrics-store.ts';
import { OperatorError } from '../../tools/operator-error.ts';
import { makeFirstTenants, type FirstTenants } from './first-tenants.ts';
import { freePort } from './free-port.ts';
import { findBundles, bundlesFolder } from '../../tools/programs/programs.ts';
import { startTemporal } from '../../tools/temporal-dev-server.ts';
import { startReaper } from './reaper.ts';

/** Kept from run to run: the bundle of the workflows, and compiled modules for this process and those that it starts. */
const KEPT = fileURLToPath(new URL('../../node_modules/.cache/quayside', import.meta.url));

/** What is left to stop when the run ends. */
export const running = { stop: async () => {} };

/**
 * One PostgreSQL, one Temporal dev server and one metrics store for the whole run. Test files get databases of their
 * own, cloned from a migrated template, and task queues of their own. Addresses go to the workers of Jest by the
 * environment. Where the metrics store cannot be installed, only its own tests fail.
 */
export async function startServers(): Promise<void> {
  process.env.NODE_COMPILE_CACHE ??= join(KEPT, 'compiled');
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
  // The heap of a dev server is small, and its collector of garbage takes some hundredths of its CPU at Go's default.
  process.env.GOGC ??= '400';
  const folder = mkdtempSync(join(quickFolder(), 'quayside-run-'));
  const starting = [
    startPostgres({ dataDir: folder, port: await freePort(), isFast: true }),
    startEngine(folder),
    startStore(folder),
  ] as const;
  const started = await Promise.allSettled(starting);
  const servers = started.flatMap((outcome) =>
    outcome.status === 'fulfilled' && outcome.value ? [outcome.value] : [],
  );
  const dismissReaper = startReaper({ pids: servers.map(({ pid }) => pid), folder });
  running.stop = async () => {
    await Promise.all(servers.map(({ stop }) => stop()));
    rmSync(folder, { recursive: true, force: true });
    dismissReaper();
  };
  try {
    const [postgres, temporal, metrics] = await Promise.all(starting);
    const url = postgres.url.slice(0, postgres.url.lastIndexOf('/'));
    const bundle = { folder: join(KEPT, 'workflows'), isTraced: false };
    const [codePath, tenants] = await Promise.all([ensureBundle(bundle), makeTemplates(url)]);
    process.env.QS_TEST_PG_URL = url;
    // Without a log of what is copied; for it the server writes out its buffers, which takes no time in memory.
    process.env.QS_TEST_CLONE = folder.startsWith(IN_MEMORY) ? 'strategy file_copy' : '';
    process.env.QS_TEST_TEMPORAL_ADDRESS = temporal.address;
    process.env.QS_TEST_METRICS_URL = metrics?.url ?? '';
    process.env.QS_TEST_BUNDLE = codePath;
    // They may be made while the run goes on.
    process.env.QS_TEST_PROGRAMS = findBundles() ?? bundlesFolder();
    process.env.QS_TEST_TENANTS = JSON.stringify(tenants);
  } catch (error) {
    // Jest runs no teardown after a setup that failed.
    await running.stop();
    throw error;
  }
}

const IN_MEMORY = '/dev/shm';
const NEEDED_BYTES = 4 * 2 ** 30;

/**
 * Where the servers keep their data: in memory if there is room. A database has a thousand files, and on ext4 those that
 * were removed a moment before make each new one search for a place: a clone takes 30 ms in memory and 100 to 600 there.
 */
function quickFolder(): string {
  if (!existsSync(IN_MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return bavail * bsize >= NEEDED_BYTES ? IN_MEMORY : tmpdir();
}

const ENGINE_SETTINGS = {
  // Workflows that continue as new do so early, and so in every test that keeps one busy.
  'limit.historyCount.suggestContinueAsNew': 200,
  // Seconds after which another worker takes the workflow task of one that died; the server's own are ten.
  'history.defaultWorkflowTaskTimeout': 3,
};

const startEngine = async (dataDir: string) =>
  startTemporal({
    dataDir,
    port: await freePort(),
    uiPort: await freePort(),
    dynamicConfig: ENGINE_SETTINGS,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });

const startStore = async (dataDir: string) => {
  const onProgress = (line: string) => process.stderr.write(`${line}\n`);
  try {
    return await startMetricsStore({ dataDir, port: await freePort(), onProgress });
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return undefined;
  }
};

/** Databases that others are cloned from: a migrated one, and one that has the tenants of an app besides. */
async function makeTemplates(url: string): Promise<FirstTenants> {
  const client = new pg.Client(`${url}/postgres`);
  await client.connect();
  try {
    await client.query('create database quayside_template');
    await migrate(`${url}/quayside_template`);
    await client.query('create database quayside_with_tenants template quayside_template');
    return await makeFirstTenants(`${url}/quayside_with_tenants`);
  } finally {
    await client.end();
  }
}
