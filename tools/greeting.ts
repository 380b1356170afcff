import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bootstrapped } from './bootstrap.ts';

export interface Greeting {
  seconds: number;
  url: string;
  /** Undefined: the engine is not ours. */
  temporalUiUrl: string | undefined;
  metricsUrl: string | undefined;
  dataDir: string;
  owner: Bootstrapped;
}

/** What `npm start` prints when everything is ready. */
export const greetingText = (greeting: Greeting): string => `
Quayside is ready after ${greeting.seconds.toFixed(1)} s.
  API          ${greeting.url}
  Reference    ${greeting.url}/docs
  Temporal UI  ${greeting.temporalUiUrl ?? 'that of the engine which TEMPORAL_ADDRESS names'}
  Metrics      ${greeting.metricsUrl ?? 'off'}
${signInText(greeting)}
  See it work:  npm run demo        Stop:  Ctrl-C
`;

function signInText({ url, dataDir, owner }: Greeting): string {
  const file = join(dataDir, 'owner.json');
  if (!isOf(file, owner.tenant))
    return `  Sign in      POST ${url}/api/auth/admin/login, as somebody of tenant ${owner.tenant}`;
  const who = owner.ownerPassword
    ? `${owner.ownerEmail}, password ${owner.ownerPassword} (kept in ${file})`
    : `${owner.ownerEmail}, first password in ${file}`;
  return `  Sign in      ${who}
               curl -s ${url}/api/auth/admin/login -H 'content-type: application/json' -d @${file}`;
}

/** Whether the kept sign-in belongs to this database: it may be another one's by now. */
function isOf(file: string, tenant: string): boolean {
  if (!existsSync(file)) return false;
  return (JSON.parse(readFileSync(file, 'utf8')) as { tenant?: string }).tenant === tenant;
}
