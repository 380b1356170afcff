import { parseArgs } from 'node:util';
import { findPrograms } from '../activities/browser-host/chromium/programs.ts';
import { migrate } from '../domain/migrate.ts';
import { collectAfterStart } from '../domain/process.ts';
import { parseConfig, publicUrlOf } from '../domain/kernel/settings/config.ts';
import { bootstrap } from './bootstrap.ts';
import { createBrowserHostLogin } from './browser-host-login.ts';
import { startChild } from './child.ts';
import { startPostgres } from './embedded-postgres.ts';
import { greetingText, HELP } from './greeting.ts';
import { hostEnvironment } from './host-environment.ts';
import { type InstanceLock, lockInstance } from './instance-lock.ts';
import { exitWith, OperatorError } from './operator-error.ts';
import { createParts, createRestartLimit, createRestartPauses } from './parts.ts';
import { buildConsoleBeside } from './console/build-beside.ts';
import { anyFreePort } from './ports.ts';
import { preflight } from './preflight.ts';
import { findBundles, makeBundles, type Program } from './programs/programs.ts';
import { localUrlOf, startSettings, type StartSettings } from './start-settings.ts';
import { startMetricsStore } from './metrics-store.ts';
import { startTemporal } from './temporal-dev-server.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);

/** How each layer is told to stop by a later start, when this one was killed. */
const STOP_SIGNALS = { process: 'SIGTERM', engine: 'SIGTERM', database: 'SIGINT' } as const;
/** Under npm, one Ctrl-C arrives twice: from the terminal and from npm. Only a later one means: at once. */
const SAME_SIGNAL_MS = 1_000;

const WORKER = 'worker';
const METRICS_STORE = 'metrics store';
const BROWSER_HOST = 'browser host';
/** What becomes of the rest while a part that is not needed does not run; it is restarted for ever. */
const WITHOUT = {
  [METRICS_STORE]: 'metrics are accepted, and cannot be queried',
  [BROWSER_HOST]: 'no browsers are allocated',
};
const RESTARTS_PER_MINUTE = 3;
const STAYED_MS = 60_000;

let lock: InstanceLock | undefined;
let stoppingSince: number | undefined;
let startTimeoutSeconds: number | undefined;
/** Start a part again that ended by itself, by its name; empty until all have started once. */
const restarts = new Map<string, () => Promise<unknown>>();
const mayRestartWorker = createRestartLimit(RESTARTS_PER_MINUTE, 60_000);
const pausesMs = {
  [METRICS_STORE]: createRestartPauses(STAYED_MS),
  [BROWSER_HOST]: createRestartPauses(STAYED_MS),
};
const parts = createParts({
  onStarted: (name, layer, { pid }) => lock?.note({ name, pid, signal: STOP_SIGNALS[layer] }),
  onLost: (name, exitCode) => lost(name, exitCode === null ? 'killed' : `exit code ${exitCode}`),
  onWaiting: (name, seconds) => say(`Waiting for the ${name} (${seconds} s) ...`),
  startTimeoutSeconds: () => startTimeoutSeconds,
});

/**
 * A worker, metrics store or browser host that ended by itself is started again; half a service helps nobody, so anything else takes
 * the rest along.
 */
function lost(name: string, reason: string): void {
  const complain = (what: string) => process.stderr.write(`The ${name} ended unexpectedly (${reason}); ${what}.\n`);
  const restart = restarts.get(name);
  if (!restart || (name !== WORKER && name !== METRICS_STORE && name !== BROWSER_HOST)) {
    complain('stopping');
    void stop(1);
  } else if (name !== WORKER) {
    const pauseMs = pausesMs[name](performance.now());
    complain(pauseMs === 0 ? 'restarting it' : `restarting it in ${pauseMs / 1000} s, until then ${WITHOUT[name]}`);
    setTimeout(() => void again(name, restart), pauseMs);
  } else if (mayRestartWorker(performance.now())) {
    complain('restarting it');
    void again(name, restart);
  } else {
    complain(`it was restarted ${RESTARTS_PER_MINUTE} times within a minute: stopping`);
    void stop(1);
  }
}

async function again(name: string, restart: () => Promise<unknown>): Promise<void> {
  if (stoppingSince !== undefined) return;
  try {
    await restart();
    say(`The ${name} is running again.`);
  } catch {
    if (stoppingSince === undefined) lost(name, 'it did not start');
  }
}

async function stop(exitCode: number): Promise<void> {
  if (stoppingSince !== undefined) return;
  stoppingSince = performance.now();
  await parts.stopAll();
  lock?.release();
  process.exit(exitCode);
}

// Nobody reads any more (a closed terminal, a pager that was left): no reason to stop without order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stoppingSince === undefined) {
      say('Stopping ...');
      void stop(0);
    } else if (performance.now() - stoppingSince > SAME_SIGNAL_MS) {
      // The lock stays: the next start looks after what may still be ending.
      parts.killAll();
      process.exit(130);
    }
  });
}

/** The address of the metrics store; undefined when it cannot be installed, and everything else runs without it. */
async function metricsStore({ env, dataDir }: StartSettings): Promise<string | undefined> {
  const { METRICS_URL: given, METRICS_RETENTION: retention } = env;
  if (given !== undefined) return given;
  const port = await anyFreePort();
  const options = {
    dataDir,
    port,
    onProgress: say,
    ...(retention !== undefined && { retention }),
  };
  const start = () => parts.start(METRICS_STORE, 'engine', (signal) => startMetricsStore({ ...options, signal }));
  try {
    const { url } = await start();
    restarts.set(METRICS_STORE, start);
    return url;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    process.stderr.write(`${error.message} Metrics are accepted, and cannot be queried.\n`);
    return undefined;
  }
}

/** Nobody waits for it: the service is ready without browsers, which are allocated as soon as it is. */
function startBrowserHost(start: (from: string | undefined) => Promise<unknown>, bundles: string | undefined): void {
  restarts.set(BROWSER_HOST, () => start(findBundles()));
  start(bundles).catch(() => {
    restarts.delete(BROWSER_HOST);
    if (stoppingSince === undefined)
      process.stderr.write(`The browser host did not start: no browsers are allocated.\n`);
  });
}

async function main(): Promise<void> {
  const startedAt = performance.now();
  const settings = startSettings(process.env);
  ({ startTimeoutSeconds } = settings);
  const { env, dataDir, host } = settings;
  const browserPrograms = findPrograms(env.CHROMIUM_PATH);
  lock = await lockInstance(dataDir);
  const consoleBuilt = buildConsoleBeside(say);
  const { port, metricsPorts, temporal } = await preflight(settings);
  const starting = Promise.all([
    settings.databaseUrl ??
      parts.start('PostgreSQL', 'database', (signal) => startPostgres({ dataDir, signal })).then(({ url }) => url),
    temporal
      ? parts
          .start('Temporal dev server', 'engine', (signal) =>
            startTemporal({ dataDir, ...temporal, onProgress: say, signal }),
          )
          .then((server) => server.address)
      : settings.temporalAddress,
    metricsStore(settings),
  ]);
  // Reads all sources while they start.
  const bundles = findBundles();
  const [databaseUrl, address, metricsUrl] = await starting;
  const uiUrl = temporal ? `http://127.0.0.1:${temporal.uiPort}` : env.TEMPORAL_UI_URL;
  const browserHostLogin = await createBrowserHostLogin(databaseUrl);
  await migrate(databaseUrl, { browserHostLogin: browserHostLogin?.name });
  const owner = await bootstrap({ databaseUrl, dataDir, env });
  const childEnv = {
    // Left alone, glibc keeps memory of its own for each thread, and never gives back what large texts leave free.
    MALLOC_ARENA_MAX: '2',
    MALLOC_MMAP_THRESHOLD_: '131072',
    ...env,
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: address,
    PORT: String(port),
    LOG_LEVEL: env.LOG_LEVEL ?? 'warn',
    ...(uiUrl !== undefined && { TEMPORAL_UI_URL: uiUrl }),
    ...(metricsUrl !== undefined && { METRICS_URL: metricsUrl }),
  };
  const child = (name: string, program: Program, metricsPort: number, from: string | undefined) =>
    parts.start(name, 'process', (signal) =>
      startChild(name, { program, bundles: from }, { ...childEnv, METRICS_PORT: String(metricsPort) }, signal),
    );
  const worker = (from: string | undefined) => child(WORKER, 'activities/main.ts', metricsPorts.worker, from);
  await Promise.all([child('API', 'api/main.ts', metricsPorts.api, bundles), worker(bundles)]);
  // Sources may have changed since, and the workflows' code is built from those of the moment.
  restarts.set(WORKER, () => worker(findBundles()));
  const browserHost = (from: string | undefined) =>
    parts.start(BROWSER_HOST, 'process', (signal) => {
      const hostEnv = {
        ...hostEnvironment(childEnv),
        ...(browserHostLogin && { DATABASE_URL: browserHostLogin.databaseUrl }),
        METRICS_PORT: '0',
      };
      return startChild(BROWSER_HOST, { program: 'activities/browser-host/main.ts', bundles: from }, hostEnv, signal);
    });
  const hasBrowsers = (await browserPrograms) !== null;
  if (hasBrowsers) startBrowserHost(browserHost, bundles);
  if (stoppingSince !== undefined) return;
  // It answers already: nobody who looks for it waits for the console.
  lock.noteUrl(localUrlOf(parseConfig(childEnv)), metricsUrl);
  const hasConsole = await consoleBuilt;
  if (stoppingSince !== undefined) return;
  const greeting = {
    seconds: (performance.now() - startedAt) / 1000,
    url: publicUrlOf(parseConfig(childEnv)),
    temporalUiUrl: uiUrl,
    temporalNamespace: settings.temporalNamespace,
    metricsUrls: [metricsPorts.api, metricsPorts.worker]
      .filter((each) => each !== 0)
      .map((each) => `http://${host}:${each}/metrics`),
    hasBrowsers,
    hasConsole,
    dataDir,
    owner,
  };
  say(greetingText(greeting));
  // The next start will be quicker.
  if (bundles === undefined) await makeBundles(say);
  collectAfterStart();
}

/** Only help is asked for by arguments: settings are environment variables. Throws `OperatorError` for any other. */
function asksForHelp(): boolean {
  try {
    return parseArgs({ options: { help: { type: 'boolean', short: 'h' } } }).values.help === true;
  } catch (error) {
    throw new OperatorError(`${(error as Error).message.split('. ')[0]}.\n${HELP}`);
  }
}

try {
  if (asksForHelp()) say(HELP);
  else await main();
} catch (error) {
  // What fails while everything stops is a consequence of that.
  if (stoppingSince === undefined) {
    stoppingSince = performance.now();
    await parts.stopAll();
    lock?.release();
    exitWith(error);
  }
}
