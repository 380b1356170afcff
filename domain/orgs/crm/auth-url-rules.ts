import { isLoopbackHost, parseHost } from '../../kernel/outbound/host-rules.ts';

/** The platform's default app, which has no secret. */
export const DEFAULT_CLIENT_ID = 'PlatformCLI';
/** Where the platform's default app has codes sent to; a code is only exchanged with the address that it was asked with. */
export const OAUTH_REDIRECT_URI = 'http://localhost:1717/OauthRedirect';

/** A long-lived credential of an org: a secret. */
export interface AuthUrl {
  clientId: string;
  /** Often empty. */
  clientSecret: string;
  refreshToken: string;
  /** Origin of the login host: https, or http on this machine; with a path where that is a mock workspace. */
  loginUrl: string;
}

export type ParsedAuthUrl =
  | { isOk: true; authUrl: AuthUrl }
  | { isOk: false /** A sentence without the secret. */; reason: string };

const AUTH_URL_MAX = 4_000;
const FORM = 'force://<clientId>:<clientSecret>:<refreshToken>@<host>';
/** Since May 2026 `sf org display` leaves secrets out, and `show-sfdx-auth-url` prints this one. */
export const AUTH_URL_COMMANDS =
  '`sf org login web` signs in to an org; then `sf org auth show-sfdx-auth-url` prints its auth URL (in a CLI without that command `sf org display --verbose`)';
const PART = /^[A-Za-z0-9._-]+={0,2}$/;
const NO_AUTH_URL = `is not of the form ${FORM}: ${AUTH_URL_COMMANDS}`;
/** What clients write when they have no value. */
const NO_VALUE = /^(undefined|null|nan)$/i;

/**
 * Reads an auth URL: `force://<clientId>:<clientSecret>:<refreshToken>@<host>[:<port>]`, and the short form
 * `force://<refreshToken>@<host>` for the default app; behind the host there may be the path of a mock workspace, and
 * nothing else: the vendor's parser ignores what follows the host. Whether the host may be called is for `permittedAuthUrl` to decide.
 */
export function parseAuthUrl(text: string): ParsedAuthUrl {
  if (/^\s*\{/.test(text)) return refused('is JSON: give the value of its sfdxAuthUrl alone');
  if (/redacted|\*{3}/i.test(text)) return refused(`has its secret hidden: ${AUTH_URL_COMMANDS}`);
  if (text.length > AUTH_URL_MAX) return refused(`is longer than ${AUTH_URL_MAX} characters`);
  if (/[\r\n]/.test(text)) return refused('contains a line break');
  if (/[\s\p{C}]/u.test(text)) return refused('contains spaces, control or invisible characters');
  const [, credentials, place = ''] = /^force:\/\/([^@]*)@([^@]*)$/.exec(text) ?? [];
  if (credentials === undefined) return refused(NO_AUTH_URL);
  const parts = credentials.split(':');
  if (parts.length !== 1 && parts.length !== 3) return refused(NO_AUTH_URL);
  const [clientId, clientSecret, refreshToken] =
    parts.length === 1 ? [DEFAULT_CLIENT_ID, '', parts[0] ?? ''] : (parts as [string, string, string]);
  if (clientId === '') return refused('has no client id');
  if (refreshToken === '') return refused('has no refresh token');
  for (const [name, part] of Object.entries({
    'client id': clientId,
    'client secret': clientSecret,
    'refresh token': refreshToken,
  })) {
    if (NO_VALUE.test(part)) return refused(`has the word ${part} as its ${name}`);
    if (part !== '' && !PART.test(part)) return refused(`has a ${name} with characters that none has`);
  }
  const origin = parseOrigin(place);
  return origin.isOk
    ? { isOk: true, authUrl: { clientId, clientSecret, refreshToken, loginUrl: origin.origin } }
    : refused(origin.reason);
}

/** The auth URL of a credential: a secret. */
export const formatAuthUrl = ({ clientId, clientSecret, refreshToken, loginUrl }: AuthUrl): string =>
  `force://${clientId}:${clientSecret}:${refreshToken}@${loginUrl.replace(/^https?:\/\//, '')}`;

/** Path of a mock workspace, below the base path of the service. */
const MOCK_PATH = /(?:\/[\w.-]{1,100}){0,5}\/mocks\/[\w-]{22}(?:\/[\w-]{1,100}){0,5}$/;

/** Origin of `host[:port]`, with the path of a mock workspace: only this machine is called without TLS. */
function parseOrigin(given: string): { isOk: true; origin: string } | { isOk: false; reason: string } {
  if (/^[a-z]+:\/\//i.test(given)) return { isOk: false, reason: 'has an address behind the @: give its host alone' };
  const [path = ''] = MOCK_PATH.exec(given) ?? [];
  const place = given.slice(0, given.length - path.length);
  if (place.endsWith('/')) return { isOk: false, reason: 'has a slash behind its host: leave it out' };
  const [, name = '', digits] = /^(\[[^\]]*\]|[^:[\]]*)(?::(.*))?$/.exec(place) ?? [];
  if (name === '') return { isOk: false, reason: 'has no host' };
  const parsed = parseHost(name);
  if (!parsed.isOk) return { isOk: false, reason: `has a host ${parsed.reason}` };
  if (digits !== undefined && (!/^[1-9]\d{0,4}$/.test(digits) || Number(digits) > 65_535))
    return { isOk: false, reason: 'has a port that is not from 1 to 65535' };
  const scheme = isLoopbackHost(parsed.host) ? 'http' : 'https';
  return {
    isOk: true,
    origin: new URL(`${scheme}://${parsed.host}${digits === undefined ? '' : `:${digits}`}`).origin + path,
  };
}

const refused = (reason: string): ParsedAuthUrl => ({ isOk: false, reason: `The auth URL ${reason}` });
