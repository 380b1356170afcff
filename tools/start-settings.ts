import { resolve } from 'node:path';
import { type Config, parseConfig, readEnvironment } from '../domain/kernel/settings/config.ts';
import { isLoopbackHost } from '../domain/kernel/outbound/host-rules.ts';
import { OperatorError } from './operator-error.ts';
import { isPortFree } from './ports.ts';

const LOOPBACK = '127.0.0.1';
const FIRST_METRICS_PORT = 9464;
const METRICS_PORTS = 100;

/** What `npm start` is asked to do, by the environment. */
export interface StartSettings {
  env: NodeJS.ProcessEnv;
  dataDir: string;
  host: string;
  port: number;
  /** Undefined: the embedded one. */
  databaseUrl: string | undefined;
  /** Undefined: the embedded one. */
  temporalAddress: string | undefined;
  temporalNamespace: string;
  /** How long each part may take to be ready; undefined: as long as its process lives. */
  startTimeoutSeconds: number | undefined;
}

/** Checks the environment before anything starts. Throws `OperatorError` and `ConfigError`. */
export function startSettings(processEnv: NodeJS.ProcessEnv): StartSettings {
  const env = readEnvironment(processEnv);
  if (env.NODE_ENV === 'production') {
    for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS'] as const) {
      if (!env[name]) throw new OperatorError(`In production nothing embedded starts: set ${name}.`);
    }
  }
  const config: Config = parseConfig({
    DATABASE_URL: 'postgres://embedded/quayside',
    TEMPORAL_ADDRESS: 'embedded:1',
    ...env,
  });
  return {
    // Who tries the service on one's own machine has repositories there, and nobody else reaches it.
    env: {
      ...env,
      ALLOW_LOCAL_GIT: env.ALLOW_LOCAL_GIT ?? String(env.NODE_ENV !== 'production' && isLoopbackHost(config.HOST)),
    },
    dataDir: resolve(config.DATA_DIR),
    host: config.HOST,
    port: config.PORT,
    databaseUrl: env.DATABASE_URL,
    temporalAddress: env.TEMPORAL_ADDRESS,
    temporalNamespace: config.TEMPORAL_NAMESPACE,
    startTimeoutSeconds: startTimeoutOf(env.START_TIMEOUT_SECONDS),
  };
}

const START_TIMEOUT_MAX_SECONDS = 86_400;

function startTimeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!/^\d+$/.test(text) || seconds < 1 || seconds > START_TIMEOUT_MAX_SECONDS) {
    throw new OperatorError(
      `The environment variable START_TIMEOUT_SECONDS is malformed: ${text} is not a number from 1 to ${START_TIMEOUT_MAX_SECONDS}.`,
    );
  }
  return seconds;
}

/** The port that a variable names, or the standard one. Throws `OperatorError` when it is malformed or taken. */
export async function portOf(
  env: NodeJS.ProcessEnv,
  variable: string,
  standard: number,
  host = LOOPBACK,
): Promise<number> {
  const text = env[variable] ?? String(standard);
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) {
    throw new OperatorError(
      `The environment variable ${variable} is malformed: ${text} is not a port from 1 to 65535.`,
    );
  }
  if (!(await isPortFree(port, host)))
    throw new OperatorError(`The port ${port} is taken by another program: set ${variable} to a free one.`);
  return port;
}

export interface MetricsPorts {
  api: number;
  worker: number;
}

/**
 * The API's port as it was asked for, in development else the next free one, as metrics matter least; the worker's is
 * the next free one after it. 0: off.
 */
export async function metricsPortsOf({ env, host }: StartSettings): Promise<MetricsPorts> {
  if (env.METRICS_PORT === '0') return { api: 0, worker: 0 };
  const isFixed = env.METRICS_PORT !== undefined || env.NODE_ENV === 'production';
  const api = isFixed
    ? await portOf(env, 'METRICS_PORT', FIRST_METRICS_PORT, host)
    : await freePortFrom(FIRST_METRICS_PORT, host);
  return { api, worker: api === 0 ? 0 : await freePortFrom(api + 1, host) };
}

async function freePortFrom(first: number, host: string): Promise<number> {
  for (let port = first; port < first + METRICS_PORTS; port++) if (await isPortFree(port, host)) return port;
  return 0;
}

const EVERYWHERE = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
]);

/** Where programs on this machine reach the service. */
export const localUrlOf = ({ HOST, PORT, BASE_PATH }: Config): string =>
  `http://${EVERYWHERE.get(HOST) ?? (HOST.includes(':') ? `[${HOST}]` : HOST)}:${PORT}${BASE_PATH}`;
