import { createHmac, createSecretKey } from 'node:crypto';
import type { Encryption } from '../../kernel/encryption/encryption.ts';

/** Gives a secret its stand-in: the same secret always gets the same one, a stand-in stays as it is. */
export type StandInOf = (secret: string) => string;

const PREFIX = 'stand-in-';
const STAND_IN = /^stand-in-[\da-f]{32}$/;

/**
 * Stand-ins that do not show what they stand for, derived so that every process gives the same.
 * @param key that no user sees: a hash without one would let short secrets be guessed.
 */
export function createStandIns(key: string | Uint8Array): StandInOf {
  // A key that is prepared once makes each digest ten times as fast.
  const secretKey = createSecretKey(Buffer.from(key));
  return (secret) =>
    secret === '' || STAND_IN.test(secret)
      ? secret
      : PREFIX + createHmac('sha256', secretKey).update(secret).digest('hex').slice(0, 32);
}

/** The key of a tenant's stand-ins. */
export const standInKey = ({ derivedKey }: Pick<Encryption, 'derivedKey'>, tenantId: string): Uint8Array =>
  derivedKey(`mock stand-ins of ${tenantId}`);

/** Names of members, parameters and XML elements whose values are secrets, in lower case without `_`, `-` and prefix. */
const SECRET_NAMES = new Set([
  'accesstoken',
  'apikey',
  'assertion',
  'authcode',
  'authorization',
  'authorizationcode',
  'authtoken',
  'bearertoken',
  'clientassertion',
  'clientsecret',
  'codeverifier',
  'credentials',
  'idtoken',
  'oauthtoken',
  'passphrase',
  'passwd',
  'password',
  'privatekey',
  'refreshtoken',
  'secret',
  'securitytoken',
  'sessionid',
  'sessiontoken',
  'sfdxauthurl',
  'sid',
  'token',
]);
/** Headers whose values are secrets; those of a request are never compared. */
const SECRET_HEADERS = new Set([
  'authorization',
  'cookie',
  'private-token',
  'proxy-authorization',
  'set-cookie',
  'x-api-key',
  'x-auth-token',
  'x-csrf-token',
  'x-goog-api-key',
]);

/** Instead of credentials of the client under test, which nobody needs to see, in the journal of calls. */
export const LEFT_OUT = '[left out]';

export const isSecretName = (name: string): boolean =>
  SECRET_NAMES.has(
    name
      .slice(name.lastIndexOf(':') + 1)
      .replaceAll(/[_-]/g, '')
      .toLowerCase(),
  );
export const isSecretHeader = (name: string): boolean =>
  SECRET_HEADERS.has(name.toLowerCase()) || isSecretName(name.replace(/^x-/i, ''));

/** Whether a member of an object is a secret: by its name, and the `code` of a token request (RFC 6749, 4.1.3). */
const isSecretMember = (owner: object, name: string): boolean =>
  isSecretName(name) || (name === 'code' && 'grant_type' in owner);

/** More levels than any document of an interface has. */
const LEVELS_MAX = 200;

/** A JSON value with stand-ins for its secrets: strings at members whose names say so. */
export function withStandIns(value: unknown, standInOf: StandInOf, level = 0): unknown {
  if (typeof value !== 'object' || value === null || level > LEVELS_MAX) return value;
  if (Array.isArray(value)) return value.map((item) => withStandIns(item, standInOf, level + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === 'string' && isSecretMember(value, name)
        ? standInOf(member)
        : withStandIns(member, standInOf, level + 1),
    ]),
  );
}

/** A JSON value without its secrets, as criteria of requests compare it: clients bring their own. */
export function withoutSecrets(value: unknown, level = 0): unknown {
  if (typeof value !== 'object' || value === null || level > LEVELS_MAX) return value;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, level + 1));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !(typeof member === 'string' && isSecretMember(value, name)))
      .map(([name, member]) => [name, withoutSecrets(member, level + 1)]),
  );
}

/** `<sf:sessionId>…</sf:sessionId>`, without elements in it. */
const XML_ELEMENT = /<([\w.:-]{1,100})((?:\s[^<>]{0,1000})?)>([^<>]{1,65536})<\/\1>/g;
/** `name=value` in a query or a form, wherever it is written: front door links stand in texts, too. */
const PARAMETER = /([?&;\s"'<>]|^)([\w.-]{1,100})=([^&\s"'<>;#]{1,65536})/g;
/** `"name": "value"` in a text that is not JSON as a whole, such as one object a line. */
const MEMBER = /"([\w.:-]{1,100})"(\s{0,10}:\s{0,10})"((?:[^"\\]|\\.){1,65536})"/g;

/** A text with stand-ins for its secrets: in XML elements, parameters and JSON members whose names say so. */
export function textWithStandIns(text: string, standInOf: StandInOf): string {
  return text
    .replaceAll(XML_ELEMENT, (whole, name: string, attributes: string, value: string) =>
      isSecretName(name) ? `<${name}${attributes}>${standInOf(value)}</${name}>` : whole,
    )
    .replaceAll(PARAMETER, (whole, before: string, name: string, value: string) =>
      isSecretName(name) ? `${before}${name}=${standInOf(decoded(value))}` : whole,
    )
    .replaceAll(MEMBER, (whole, name: string, colon: string, value: string) =>
      isSecretName(name) ? `"${name}"${colon}"${standInOf(value)}"` : whole,
    );
}

/** A text with stand-ins for given secrets, wherever they are in it: the ones that the request carried. */
export const withoutKnown = (text: string, secrets: readonly string[], standInOf: StandInOf): string =>
  secrets.reduce(
    (result, secret) => (secret.length < 8 ? result : result.replaceAll(secret, () => standInOf(secret))),
    text,
  );

/** The secrets that a request's headers carry: credentials without their scheme, values of cookies. */
export function secretsOfHeaders(headers: readonly (readonly [string, string])[]): string[] {
  return headers.flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (lower === 'cookie') return value.split(';').map((cookie) => cookie.slice(cookie.indexOf('=') + 1).trim());
    if (lower === 'authorization' || lower === 'proxy-authorization') return [value.replace(/^[\w-]+\s+/, '')];
    return isSecretHeader(name) ? [value] : [];
  });
}

/** The secrets that a JSON value or the fields of a form carry. */
export function secretsOfValue(value: unknown, level = 0): string[] {
  if (typeof value !== 'object' || value === null || level > LEVELS_MAX) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'string' ? (isSecretMember(value, name) ? [member] : []) : secretsOfValue(member, level + 1),
  );
}

/** The value of a response's header with stand-ins. */
export function headerWithStandIns(name: string, value: string, standInOf: StandInOf): string {
  const lower = name.toLowerCase();
  if (lower === 'set-cookie') {
    const [, cookie = '', secret = '', attributes = ''] = /^([^=;]*)=([^;]*)(.*)$/s.exec(value) ?? [];
    return cookie === '' ? standInOf(value) : `${cookie}=${standInOf(secret)}${attributes}`;
  }
  if (isSecretHeader(name)) return standInOf(value);
  return textWithStandIns(value, standInOf);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
