import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bootstrapped } from './bootstrap.ts';

export interface Greeting {
  seconds: number;
  url: string;
  /** Undefined: the engine is not ours. */
  temporalUiUrl: string | undefined;
  temporalNamespace: string;
  /** Addresses of the metrics of the API and of the worker; empty: off. */
  metricsUrls: readonly string[];
  /** Whether this machine allocates browsers. */
  hasBrowsers: boolean;
  /** Whether the web console has been built. */
  hasConsole: boolean;
  dataDir: string;
  owner: Bootstrapped;
}

/** What `npm start -- --help` prints. */
export const HELP = `npm start runs the whole service on this machine; Ctrl-C stops it. Settings are environment variables:
  PORT=3000             where the API listens, on HOST=127.0.0.1
  TEMPORAL_PORT=7233    the workflow engine, and TEMPORAL_UI_PORT=8233 its UI
  METRICS_PORT=9464     Prometheus metrics; 0: none
  DATA_DIR=.data        everything that is kept: another folder is another installation
  COMMANDS_FILE         programs that execute runs
  LOG_LEVEL=warn        debug, info, warn, error
For example: PORT=3001 TEMPORAL_PORT=7234 TEMPORAL_UI_PORT=8234 DATA_DIR=.data-2 npm start
All settings: docs/operations/settings.md`;

/** What `npm start` prints when everything is ready. */
export const greetingText = (greeting: Greeting): string => `
Quayside is ready after ${greeting.seconds.toFixed(1)} s.
${greeting.hasConsole ? `  Open         ${greeting.url}/console/\n` : ''}  API          ${greeting.url}
  Reference    ${greeting.url}/docs
  Temporal UI  ${greeting.temporalUiUrl ?? 'that of the engine which TEMPORAL_ADDRESS names'}
  Running work ${runningWorkText(greeting)}
  Metrics      ${greeting.metricsUrls.join('  ') || 'off'}
  Browsers     ${greeting.hasBrowsers ? 'are allocated by this machine' : 'none are allocated: there is no Chromium (CHROMIUM_PATH)'}
${signInText(greeting)}
  First release: README.md        See it work: npm run demo        Stop: Ctrl-C
`;

/** What the tenant has under way: the UI keeps no filters on the server, so that this is a link or the query. */
function runningWorkText({ temporalUiUrl, temporalNamespace, owner }: Greeting): string {
  const query = `Tenant = "${owner.tenant}" AND ExecutionStatus = "Running"`;
  if (temporalUiUrl === undefined) return query;
  return `${temporalUiUrl}/namespaces/${temporalNamespace}/workflows?query=${encodeURIComponent(query)}`;
}

function signInText({ url, dataDir, owner }: Greeting): string {
  const file = join(dataDir, 'owner.json');
  if (!isOf(file, owner.tenant))
    return `  Sign in      POST ${url}/api/auth/admin/login, as somebody of tenant ${owner.tenant}`;
  const who = owner.ownerPassword
    ? `${owner.ownerEmail}, password ${owner.ownerPassword} (kept in ${file})`
    : `${owner.ownerEmail}, first password in ${file}`;
  return `  Sign in      ${who}
               curl -s ${quoted(`${url}/api/auth/admin/login`)} -H 'content-type: application/json' -d ${quoted(`@${file}`)}`;
}

/** One argument for any shell: addresses and folders may have spaces, `&`, `?` and quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Whether the kept sign-in belongs to this database: it may be another one's by now. */
function isOf(file: string, tenant: string): boolean {
  if (!existsSync(file)) return false;
  return (JSON.parse(readFileSync(file, 'utf8')) as { tenant?: string }).tenant === tenant;
}
