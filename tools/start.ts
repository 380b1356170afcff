import { resolve } from 'node:path';
import pg from 'pg';
import { migrate } from '../domain/migrate.ts';
import { parseConfig, publicUrlOf } from '../domain/shared/config.ts';
import { bootstrap, type Bootstrapped } from './bootstrap.ts';
import { type Child, startChild } from './child.ts';
import { startPostgres } from './embedded-postgres.ts';
import { type InstanceLock, lockInstance } from './instance-lock.ts';
import { exitWith, OperatorError } from './operator-error.ts';
import { accepts, isPortFree } from './ports.ts';
import { startTemporal } from './temporal-dev-server.ts';

interface Server {
  name: string;
  ended: Promise<number | null>;
  stop: () => Promise<void>;
}

const env = { ...process.env };
const dataDir = resolve(env.DATA_DIR || '.data');
const host = env.HOST || '127.0.0.1';
const say = (text: string) => process.stdout.write(`${text}\n`);

/** Everything that runs, in the order in which it was started; it stops in the reverse order. */
const running: Server[] = [];
let lock: InstanceLock | undefined;
let isStopping = false;

async function stopAll(): Promise<void> {
  const children = running.filter(({ name }) => name === 'API' || name === 'worker');
  await Promise.all(children.map(({ stop }) => stop()));
  for (const server of running.toReversed()) await server.stop();
  lock?.release();
}

async function end(code: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await stopAll();
  process.exit(code);
}

/** Something that ends by itself takes the rest along: half a service helps nobody. */
function keep<S extends Server>(server: S): S {
  running.push(server);
  void server.ended.then((code) => {
    if (isStopping) return undefined;
    process.stderr.write(`The ${server.name} ended unexpectedly (exit code ${code}); stopping.\n`);
    return end(1);
  });
  return server;
}

async function portFor(variable: string, standard: number): Promise<number> {
  const port = Number(env[variable] || standard);
  if (!(await isPortFree(port, variable === 'PORT' ? host : '127.0.0.1'))) {
    throw new OperatorError(`The port ${port} is taken by another program; set ${variable} to a free one.`);
  }
  return port;
}

/** Metrics matter least: the next free port does. */
async function metricsPort(): Promise<number> {
  if (env.METRICS_PORT) return env.METRICS_PORT === '0' ? 0 : portFor('METRICS_PORT', 9464);
  for (let port = 9464; port < 9564; port++) if (await isPortFree(port, host)) return port;
  return 0;
}

async function database(): Promise<string> {
  if (env.DATABASE_URL) {
    const client = new pg.Client({ connectionString: env.DATABASE_URL, connectionTimeoutMillis: 5_000 });
    try {
      await client.connect();
    } catch (error) {
      throw new OperatorError(`The database that DATABASE_URL names cannot be reached: ${(error as Error).message || 'no answer'}.`);
    } finally {
      await client.end().catch(() => undefined);
    }
    return env.DATABASE_URL;
  }
  const postgres = keep({ name: 'PostgreSQL', ...(await startPostgres({ dataDir })) });
  lock?.note(postgres.pid, 'postgres');
  return postgres.url;
}

async function engine(): Promise<{ address: string; uiUrl: string | undefined }> {
  if (env.TEMPORAL_ADDRESS) {
    const [engineHost = '', enginePort = ''] = env.TEMPORAL_ADDRESS.split(/:(?=\d+$)/);
    if (!(await accepts(engineHost, Number(enginePort), 5_000))) {
      throw new OperatorError(`The workflow engine that TEMPORAL_ADDRESS names (${env.TEMPORAL_ADDRESS}) cannot be reached.`);
    }
    return { address: env.TEMPORAL_ADDRESS, uiUrl: env.TEMPORAL_UI_URL };
  }
  const [port, uiPort] = [await portFor('TEMPORAL_PORT', 7233), await portFor('TEMPORAL_UI_PORT', 8233)];
  const temporal = keep({ name: 'Temporal dev server', ...(await startTemporal({ dataDir, port, uiPort, onProgress: say })) });
  lock?.note(temporal.pid, 'temporal');
  return temporal;
}

const signInText = (url: string, { ownerEmail, ownerPassword, tenant, created }: Bootstrapped) =>
  created
    ? `  Sign in (tenant ${tenant}): ${ownerEmail}, password ${ownerPassword} (kept in ${dataDir}/owner.json)
      curl -s ${url}/api/auth/admin/login -H 'content-type: application/json' -d '{"email":"${ownerEmail}","password":"${ownerPassword}"}'`
    : `  Sign in (tenant ${tenant}): as before; the first owner's password is in ${dataDir}/owner.json unless it was changed`;

async function main(): Promise<void> {
  const startedAt = performance.now();
  if (env.NODE_ENV === 'production') {
    for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS'] as const) {
      if (!env[name]) throw new OperatorError(`In production nothing embedded starts: set ${name}.`);
    }
  }
  // A malformed setting is refused before anything starts.
  parseConfig({ DATABASE_URL: 'postgres://placeholder', TEMPORAL_ADDRESS: 'placeholder:1', ...env });
  const port = await portFor('PORT', 3000);
  lock = await lockInstance(dataDir);
  const starting = [database(), engine()] as const;
  // Both are waited for even when one fails: what is still starting could not be stopped.
  await Promise.allSettled(starting);
  const [databaseUrl, { address, uiUrl }] = await Promise.all(starting);
  await migrate(databaseUrl);
  const owner = await bootstrap({ databaseUrl, dataDir, env });
  const metrics = await metricsPort();
  const childEnv = {
    ...env,
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: address,
    PORT: String(port),
    METRICS_PORT: String(metrics),
    LOG_LEVEL: env.LOG_LEVEL || 'warn',
    ...(uiUrl && { TEMPORAL_UI_URL: uiUrl }),
  };
  const start = async (name: string, modulePath: string): Promise<Child> => keep(await startChild(name, modulePath, childEnv));
  await Promise.all([start('API', 'api/main.ts'), start('worker', 'activities/main.ts')]);
  const url = publicUrlOf(parseConfig(childEnv));
  say(`
Quayside is ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s.
  API          ${url}
  Reference    ${url}/docs
  Temporal UI  ${uiUrl ?? 'of your own engine'}
  Metrics      ${metrics === 0 ? 'off' : `http://${host}:${metrics}/metrics`}
${signInText(url, owner)}
  See it work:  npm run demo        Stop:  Ctrl-C
`);
}

/** Under npm, one Ctrl-C arrives twice: from the terminal and from npm. Only a later one means: at once. */
const SAME_SIGNAL_MS = 1_000;
let firstSignalAt: number | undefined;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (firstSignalAt !== undefined) {
      if (performance.now() - firstSignalAt > SAME_SIGNAL_MS) process.exit(130);
      return;
    }
    firstSignalAt = performance.now();
    say('Stopping ...');
    void end(0);
  });
}

try {
  await main();
} catch (error) {
  if (!isStopping) {
    isStopping = true;
    await stopAll();
    exitWith(error);
  }
}
