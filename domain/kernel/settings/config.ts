import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ISOLATIONS } from './isolation-rules.ts';
import { SOQL_NAME } from '../text/soql-rules.ts';
import { parseTrustedProxies } from '../outbound/client-address.ts';
import { isLoopbackHost, plainHost } from '../outbound/host-rules.ts';
import { parseKeptVersions } from './kept-version-rules.ts';

const port = (standard: number) => z.coerce.number().int().min(0).max(65_535).default(standard);
const flag = z.stringbool().default(false);
const httpUrl = z.url({ protocol: /^https?$/ });
const count = (standard: number) => z.coerce.number().int().positive().default(standard);

/** Every setting of the service; the names are those of the environment variables. */
const Environment = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: port(3000),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  INTERNAL_URL: z.url({ protocol: /^https?$/ }).optional(),
  MOCKS_URL: z.url({ protocol: /^https?$/ }).optional(),
  BASE_PATH: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)*$/, 'must be empty or begin with / and not end with one')
    .default(''),
  DATA_DIR: z.string().min(1).default('.data'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  // The system role's name has seven characters more, and PostgreSQL keeps 63.
  DATABASE_APP_ROLE: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,55}$/)
    .default('quayside_app'),
  DATABASE_POOL_SIZE: count(10),
  DATABASE_SLOW_POOL_SIZE: count(4),
  TEMPORAL_ADDRESS: z.string().regex(/^[^\s:]+:\d+$/, 'must be host:port'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_UI_URL: z.url().optional(),
  TASK_QUEUE_PREFIX: z
    .string()
    .regex(/^[\w-]*$/)
    .default(''),
  WORKER_DEPLOYMENT_NAME: z
    .string()
    .regex(/^[\w-]+$/)
    .default('quayside'),
  WORKER_BUILD_ID: z
    .string()
    .regex(/^[\w.+-]{1,100}$/)
    .optional(),
  WORKFLOW_BUNDLE_DIR: z.string().min(1).optional(),
  METRICS_PORT: port(9464),
  METRICS_URL: httpUrl.optional(),
  METRICS_RETENTION: z
    .string()
    .regex(/^[1-9]\d{0,4}[hdwy]?$/, 'must be a number of months, or of hours (h), days (d), weeks (w) or years (y)')
    .default('12'),
  METRICS_SERIES_PER_DAY: count(50_000),
  METRICS_BUFFER_ROWS: count(5_000_000),
  RATE_LIMIT_PER_MINUTE: count(600),
  AUTH_RATE_LIMIT_PER_MINUTE: count(30),
  HOOK_RATE_LIMIT_PER_MINUTE: count(300),
  MOCK_RATE_LIMIT_PER_MINUTE: count(180_000),
  MOCK_CALL_RETENTION_DAYS: count(14),
  HEADERS_TIMEOUT_SECONDS: count(10),
  REQUEST_TIMEOUT_SECONDS: count(60),
  KEEP_ALIVE_TIMEOUT_SECONDS: count(65),
  ENCRYPTION_KEYS: z.string().optional(),
  TOKEN_KEYS: z.string().optional(),
  TOKEN_PUBLIC_KEYS: z.string().optional(),
  OBJECT_STORE_URL: z.url({ protocol: /^(file|s3)$/ }).optional(),
  OIDC_ISSUER: httpUrl.optional(),
  OIDC_AUDIENCE: z.string().min(1).optional(),
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  OIDC_SCOPE: z.string().min(1).default('openid email'),
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp or smtps address' }).optional(),
  MAIL_FROM: z
    .string()
    .regex(
      /^[^\p{Cc}<>]*(<[^\p{Cc}<>@\s]+@[^\p{Cc}<>@\s]+>|[^\p{Cc}<>@\s]+@[^\p{Cc}<>@\s]+)$/u,
      'must be an address, or Name <address>',
    )
    .optional(),
  HOST_A_API_URL: httpUrl.optional(),
  HOST_A_OAUTH_TOKEN_URL: httpUrl.optional(),
  HOST_A_OAUTH_CLIENT_ID: z.string().min(1).optional(),
  HOST_A_OAUTH_CLIENT_SECRET: z.string().min(1).optional(),
  HOST_B_API_URL: httpUrl.optional(),
  HOST_B_OAUTH_TOKEN_URL: httpUrl.optional(),
  HOST_B_OAUTH_CLIENT_ID: z.string().min(1).optional(),
  HOST_B_OAUTH_CLIENT_SECRET: z.string().min(1).optional(),
  SLACK_API_URL: httpUrl.default('https://slack.com/api/'),
  OUTBOUND_ALLOW: z.string().optional(),
  CRM_API_VERSION_MAX: z
    .string()
    .regex(/^[1-9]\d{1,2}\.0$/, 'must be like 68.0')
    .default('68.0'),
  CRM_SCRATCH_AUTH_FIELD: z.string().regex(SOQL_NAME, 'must be the name of a field').default('SfdxAuthUrl__c'),
  // Far less than the lease of a token that is minted.
  CRM_CALL_SECONDS: z.coerce.number().int().min(1).max(60).default(20),
  ORG_LIMITS_EVERY_MINUTES: count(15),
  ORG_EXPLORER_INDEX_ONLY: z
    .string()
    .default('Report,Dashboard,Document')
    .transform((text) =>
      text
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    )
    .refine((names) => names.every((name) => /^[A-Za-z]\w*$/.test(name)), 'must be metadata types separated by commas'),
  ORG_EXPLORER_PAUSE_SECONDS: count(300),
  ORG_EXPLORER_POLL_MS: count(500),
  WORK_TRACKER_TIMEOUT_SECONDS: count(15),
  // With the time for retries, less than the hour of the activity that asks.
  AI_CALL_TIMEOUT_SECONDS: z.coerce.number().int().min(1).max(900).default(600),
  ANALYSIS_DIR: z.string().min(1).optional(),
  ANALYSIS_HEAP_MB: count(2_048),
  CACHE_MB: count(64),
  ANALYSIS_AT_ONCE: count(1),
  COMMANDS_FILE: z.string().min(1).optional(),
  ALLOW_LOCAL_GIT: flag,
  WEBHOOK_LOG_RETENTION_DAYS: count(90),
  REVIEW_RETENTION_DAYS: count(90),
  BROWSER_RECORDING_DAYS: count(30),
  BROWSER_PROVIDER_TIMEOUT_SECONDS: count(20),
  BROWSER_HOST_URL: httpUrl.optional(),
  BROWSER_HOST_PORT: port(0),
  BROWSER_PLACES: z.coerce.number().int().min(1).max(100).default(4),
  BROWSER_SESSIONS_PER_TENANT: count(20),
  BROWSER_SPARES: z.coerce.number().int().min(0).max(10).optional(),
  BROWSER_ISOLATION: z.enum(ISOLATIONS).optional(),
  CHROMIUM_PATH: z.string().min(1).optional(),
  REPLAY_LINK_HOURS: count(6),
  // What ended within the last 14 days is shown.
  PULL_REQUEST_RETENTION_DAYS: z.coerce.number().int().min(15).default(90),
  GIT_MIRROR_DIR: z.string().min(1).optional(),
  GIT_FETCH_EVERY_SECONDS: count(300),
  ROLLING_ANALYSIS_CACHE_TTL_SECONDS: count(900),
  DOCUMENT_VERSIONS: z
    .string()
    .default('packages=20')
    .transform((text, context) => {
      const kept = parseKeptVersions(text);
      if (kept) return kept;
      context.addIssue('must be like packages=20,builds=5');
      return z.NEVER;
    }),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  // Scales leases, silences and the pauses between sweeps, never anything that a user was promised.
  SERVICE_PACE: z.coerce.number().min(0.01).max(1).default(1),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  TRUST_PROXY: z
    .string()
    .default('0')
    .transform((text, context) => {
      const trusted = parseTrustedProxies(text);
      if (trusted !== undefined) return trusted;
      context.addIssue(
        'must be the number of proxies before the service (0 to 20), or their ranges: 10.0.0.0/8,fd00::/8',
      );
      return z.NEVER;
    }),
});

/** The names of all settings. */
export const SETTINGS: readonly string[] = Object.keys(Environment.shape);

export type Config = z.output<typeof Environment> & { isProduction: boolean };

/** A start that cannot go on; the message is one sentence for the operator and names the variable. */
export class ConfigError extends Error {}

/** Settings that are secrets, and public keys: each may be in a file, which the variable of that name with `_FILE` names. */
export const SECRETS = [
  'DATABASE_URL',
  'ENCRYPTION_KEYS',
  'TOKEN_KEYS',
  'TOKEN_PUBLIC_KEYS',
  'SMTP_URL',
  'OIDC_CLIENT_SECRET',
  'HOST_A_OAUTH_CLIENT_SECRET',
  'HOST_B_OAUTH_CLIENT_SECRET',
  'OWNER_PASSWORD',
  'BOOTSTRAP_OWNER_PASSWORD',
] as const;

/**
 * The environment without empty variables, and with the secrets that files hold, without white space around them.
 * Throws `ConfigError` for a file that cannot be read or is empty, and where the secret itself is given, too.
 */
export function readEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const present: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value !== '') present[name] = value;
  for (const name of SECRETS) {
    const path = present[`${name}_FILE`];
    if (path === undefined) continue;
    if (present[name] !== undefined) throw new ConfigError(`Set either ${name} or ${name}_FILE, not both.`);
    present[name] = secretIn(path, `${name}_FILE`);
    delete present[`${name}_FILE`];
  }
  return present;
}

function secretIn(path: string, variable: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`The file that ${variable} names cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  if (text === '') throw new ConfigError(`The file that ${variable} names is empty.`);
  return text;
}

/** Parses the environment of a process of any kind; see `readEnvironment`. Throws `ConfigError`. */
export function parseSettings(env: Record<string, string | undefined>): Config {
  const present = readEnvironment(env);
  const parsed = Environment.safeParse(present);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = String(issue?.path[0]);
    throw new ConfigError(
      name in present
        ? `The environment variable ${name} is malformed: ${issue?.message}.`
        : `The environment variable ${name} is missing.`,
    );
  }
  const config = { ...parsed.data, isProduction: parsed.data.NODE_ENV === 'production' };
  if (config.isProduction && config.SERVICE_PACE !== 1) {
    throw new ConfigError('The environment variable SERVICE_PACE is for tests; in production it must not be set.');
  }
  checkTrustedSystems(config);
  checkMocksUrl(config);
  return config;
}

/** Parses the environment of a process that has the keys of the service: every one but browser hosts. */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const config = parseSettings(env);
  for (const name of ['ENCRYPTION_KEYS', 'TOKEN_KEYS'] as const) {
    if (config.isProduction && config[name] === undefined) {
      throw new ConfigError(`The environment variable ${name} is missing; in production no key is invented.`);
    }
  }
  return config;
}

/** Systems that are sent credentials, or whose word is taken. */
const TRUSTED_SYSTEMS = [
  'OIDC_ISSUER',
  'HOST_A_API_URL',
  'HOST_A_OAUTH_TOKEN_URL',
  'HOST_B_API_URL',
  'HOST_B_OAUTH_TOKEN_URL',
  'SLACK_API_URL',
] as const;

/** An origin of their own is what keeps mocks apart from the service. */
function checkMocksUrl(config: Config): void {
  const mocksHost = mocksHostOf(config);
  if (mocksHost === undefined) return;
  for (const [name, url] of [
    ['PUBLIC_URL', publicUrlOf(config)],
    ['INTERNAL_URL', internalUrlOf(config)],
  ] as const)
    if (hostOf(url) === mocksHost)
      throw new ConfigError(`The environment variable MOCKS_URL must name another host or port than ${name}.`);
}

function checkTrustedSystems(config: Config): void {
  if (config.OIDC_ISSUER !== undefined && config.OIDC_AUDIENCE === undefined) {
    throw new ConfigError('The environment variable OIDC_AUDIENCE is missing; OIDC_ISSUER needs it.');
  }
  for (const name of TRUSTED_SYSTEMS) {
    const { protocol, hostname } = new URL(config[name] ?? 'https://unset');
    if (protocol === 'http:' && (config.isProduction || !isLoopbackHost(hostname))) {
      throw new ConfigError(
        `The environment variable ${name} is malformed: http is for loopback outside production, everything else is https.`,
      );
    }
  }
}

/** The address under which clients reach the service, without a slash at its end. */
export const publicUrlOf = ({ PUBLIC_URL, HOST, PORT, BASE_PATH }: Config): string =>
  (PUBLIC_URL ?? `http://${HOST}:${PORT}`).replace(/\/$/, '') + BASE_PATH;

/** The address under which clients under test reach mock scenarios, without a slash at its end. */
export const mocksUrlOf = (config: Config): string =>
  publicUrlOf({ ...config, PUBLIC_URL: config.MOCKS_URL ?? config.PUBLIC_URL });

const hostOf = (url: string): string => plainHost(new URL(url).host);

/** The host, as `plainHost` spells it, at which alone mock scenarios answer; undefined: at each of the service. */
export const mocksHostOf = ({ MOCKS_URL }: Config): string | undefined =>
  MOCKS_URL === undefined ? undefined : hostOf(MOCKS_URL);

/** The address under which the programs of runs reach the service, without a slash at its end. */
export const internalUrlOf = (config: Config): string =>
  publicUrlOf({ ...config, PUBLIC_URL: config.INTERNAL_URL ?? config.PUBLIC_URL });
