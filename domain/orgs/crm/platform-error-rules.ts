import { AUTH_URL_COMMANDS } from './auth-url-rules.ts';
import type { CrmFailure, CrmFailureKind } from './crm-platform.port.ts';

/** How the platform said that it did not do what was asked. */
export interface PlatformError {
  status: number;
  /** `errorCode` of REST, `error` of OAuth, `faultcode` of SOAP without its prefix. */
  code?: string | undefined;
  message?: string | undefined;
}

type Meaning = readonly [CrmFailureKind, string];
/** By code; not an object, whose own members an answer could name. */
const meanings = (byCode: Readonly<Record<string, Meaning>>): ReadonlyMap<string, Meaning> =>
  new Map(Object.entries(byCode));

const SIGN_IN_AGAIN = `Sign in to the org again and register its new auth URL: ${AUTH_URL_COMMANDS}.`;
const USED_UP = 'The org has used up its API calls, or too many run at once; wait until some of the day has passed.';
const LATER = 'The platform has a problem at the moment; try again later.';
const PERMISSIONS = "Check the permissions of the org's user: API access and what was asked for.";
const APP =
  'The app of the auth URL is not known to this org: have an administrator install or allow it, or use another app.';
const REPORT =
  'The org does not take this request; its API version, edition or features may not have what was asked for.';
const GONE = 'The org has been deleted or has expired; register the one that replaces it.';
const MISSING = 'Check that the name is right and that the org still has it.';

/** Codes of REST and SOAP. The set is open: the vendor adds some with each release. */
const PLATFORM_CODES = meanings({
  INVALID_SESSION_ID: ['auth_failed', SIGN_IN_AGAIN],
  INVALID_AUTH_HEADER: ['auth_failed', SIGN_IN_AGAIN],
  INVALID_LOGIN: ['auth_failed', SIGN_IN_AGAIN],
  INVALID_OPERATION_WITH_EXPIRED_PASSWORD: [
    'auth_failed',
    "The password of the org's user has expired: have it changed.",
  ],
  REQUEST_LIMIT_EXCEEDED: ['limited', USED_UP],
  TXN_SECURITY_METERING_ERROR: ['limited', USED_UP],
  SERVER_UNAVAILABLE: ['unreachable', LATER],
  UNKNOWN_EXCEPTION: ['unreachable', LATER],
  NOT_FOUND: ['not_found', MISSING],
  INVALID_ID_FIELD: ['not_found', MISSING],
  LIMIT_EXCEEDED: ['refused', 'Too much was asked for at once; ask for less.'],
  INVALID_STATUS: ['refused', 'The sandbox is not ready yet; wait until it has been copied and activated.'],
  API_DISABLED_FOR_ORG: ['refused', 'The edition of this org has no API access.'],
  API_CURRENTLY_DISABLED: ['refused', "API access is switched off for the org's user."],
  INSUFFICIENT_ACCESS: ['refused', PERMISSIONS],
  INSUFFICIENT_ACCESS_OR_READONLY: ['refused', PERMISSIONS],
});

/** Errors of the token endpoint; all but these are `auth_failed`, too. */
const OAUTH_ERRORS = meanings({
  invalid_client: [
    'auth_failed',
    'The client id or secret of the auth URL is wrong; print the auth URL again and register it.',
  ],
  invalid_client_id: [
    'auth_failed',
    'The client id of the auth URL is wrong; print the auth URL again and register it.',
  ],
  invalid_client_credentials: [
    'auth_failed',
    'The client secret of the auth URL is wrong; print the auth URL again and register it.',
  ],
  app_not_found: ['auth_failed', APP],
  invalid_app_access: ['auth_failed', APP],
  OAUTH_APP_BLOCKED: ['auth_failed', APP],
  inactive_user: ['auth_failed', "The org's user has been deactivated: use another one."],
  inactive_org: ['auth_failed', GONE],
  unsupported_grant_type: ['refused', REPORT],
  redirect_uri_mismatch: ['refused', 'The app has another redirect address than the one that codes are asked with.'],
  rate_limit_exceeded: ['limited', 'Too many sign-ins to this org; wait some minutes.'],
  server_error: ['unreachable', LATER],
  temporarily_unavailable: ['unreachable', LATER],
  unknown_error: ['unreachable', LATER],
});

/** What `invalid_grant` means, by its description. */
const INVALID_GRANTS: readonly (readonly [RegExp, Meaning])[] = [
  [/rate.*exceeded|too many/i, ['limited', 'Too many sign-ins to this org; wait some minutes.']],
  [
    /already being processed/i,
    ['limited', 'Somebody else signs in with the same token at the moment; try again in some seconds.'],
  ],
  [
    /expired (access\/refresh token|authorization code)/i,
    ['auth_failed', `The token was revoked or has expired. ${SIGN_IN_AGAIN}`],
  ],
  [/authentication failure/i, ['auth_failed', `The user was deactivated or its password changed. ${SIGN_IN_AGAIN}`]],
  [/audience/i, ['auth_failed', 'The login address is not that of this org; use the address of its own domain.']],
  [
    /user hasn'?t approved/i,
    ['auth_failed', 'The app is not approved for this user: have an administrator pre-authorize it.'],
  ],
];

const byStatus = (status: number): Meaning => {
  if (status === 420) return ['auth_failed', GONE];
  if (status === 401) return ['auth_failed', SIGN_IN_AGAIN];
  if (status === 404) return ['not_found', MISSING];
  if (status === 429) return ['limited', USED_UP];
  if (status === 403) return ['refused', PERMISSIONS];
  if (status >= 500 || status === 408) return ['unreachable', LATER];
  if (status >= 300 && status < 400)
    return [
      'refused',
      'The org answered with a redirect, which is not followed: register it with the address that it has now.',
    ];
  return ['refused', REPORT];
};

/** What an error of an org means. A deleted or expired org answers 420, whatever else it says. */
export function orgFailure({ status, code, message }: PlatformError): CrmFailure {
  const [kind, hint] = status === 420 ? byStatus(status) : (PLATFORM_CODES.get(code ?? '') ?? byStatus(status));
  return failure(
    kind,
    status === 420 || !code ? `HTTP_${status}` : code,
    message ?? `The org answered ${status}.`,
    hint,
  );
}

/** What an error of the token endpoint means. Nobody asks again after `auth_failed`, so refusals that pass are never that. */
export function tokenFailure({ status, code, message }: PlatformError): CrmFailure {
  if (status === 401 && !code)
    return malformed('HTTP_401', 'The address answered 401 without an error of the platform.');
  if (!code || status >= 500 || [408, 420, 429].includes(status)) return orgFailure({ status, message });
  if (PLATFORM_CODES.has(code)) return orgFailure({ status, code, message });
  const grant =
    code === 'invalid_grant' ? INVALID_GRANTS.find(([pattern]) => pattern.test(message ?? ''))?.[1] : undefined;
  const [kind, hint] = grant ?? OAUTH_ERRORS.get(code) ?? ['auth_failed', SIGN_IN_AGAIN];
  return failure(kind, code, message ?? 'The platform refused the credential.', hint);
}

const MESSAGE_MAX = 300;
const CODE_MAX = 100;

/** A failure with its texts cleaned and cut. */
export const failure = (kind: CrmFailureKind, code: string | null, message: string, hint: string): CrmFailure => ({
  isOk: false,
  kind,
  code: code === null ? null : cut(code, CODE_MAX),
  message: cut(message),
  hint,
});

/** A text of the platform on one line, without control characters, cut. */
export const cut = (text: string, max = MESSAGE_MAX): string =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, max)
    .toWellFormed();

/** Where the answer is not one of the platform's. */
export const malformed = (code: string, message: string): CrmFailure =>
  failure(
    'malformed',
    code,
    message,
    'Something else than the platform answered, a login page or a proxy: check the address of the org.',
  );

/** The newest version at most as high as the cap; undefined when there is none. Versions are like `66.0`. */
export function newestVersion(versions: readonly string[], cap: string): string | undefined {
  return versions
    .filter((version) => /^\d{2,3}\.\d$/.test(version) && Number(version) <= Number(cap))
    .toSorted((left, right) => Number(right) - Number(left))[0];
}
