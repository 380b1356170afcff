import { isLoopbackHost } from '../../domain/kernel/outbound/host-rules.ts';

/**
 * `qs_session`: the session of a browser. `qs_oidc`: a pending sign-in with the identity provider. `qs_live`: live links
 * that were opened, the newest first.
 */
export const COOKIE_NAMES = ['qs_session', 'qs_oidc', 'qs_live'] as const;
export type CookieName = (typeof COOKIE_NAMES)[number];

const OWN_NAMES = new Set<string>(COOKIE_NAMES.flatMap((name) => [name, `__Host-${name}`]));

/** A `Cookie` header without the cookies of the service; empty when no other is left. */
export const withoutOwnCookies = (header: string): string =>
  header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !OWN_NAMES.has((pair.split('=', 1)[0] ?? '').trim()))
    .join('; ');

/** The cookies of the service: hidden from scripts and not sent with cross-site writes (RFC 6265bis). */
export interface Cookies {
  /** Value of the cookie in a `Cookie` header. */
  read(header: string, name: CookieName): string | undefined;
  /** A `Set-Cookie` value. */
  write(name: CookieName, value: string, maxAgeSeconds: number): string;
  /** A `Set-Cookie` value that removes the cookie. */
  clear(name: CookieName): string;
}

/**
 * @param publicUrl outside loopback, cookies are only sent over https and have the prefix `__Host-`, so that no other
 * host of the domain can set them.
 */
export function cookiesOf(publicUrl: string): Cookies {
  const { protocol, hostname } = new URL(publicUrl);
  const isSecure = protocol === 'https:' || !isLoopbackHost(hostname);
  const fullName = (name: CookieName) => (isSecure ? `__Host-${name}` : name);
  const write: Cookies['write'] = (name, value, maxAgeSeconds) =>
    [
      `${fullName(name)}=${value}`,
      'Path=/',
      `Max-Age=${maxAgeSeconds}`,
      'HttpOnly',
      ...(isSecure ? ['Secure'] : []),
      'SameSite=Lax',
    ].join('; ');
  return {
    read(header, name) {
      const start = `${fullName(name)}=`;
      const found = header.split('; ').find((pair) => pair.startsWith(start));
      return found?.slice(start.length) || undefined;
    },
    write,
    clear: (name) => write(name, '', 0),
  };
}

/**
 * Whether a request was made by a page of this service: by `Sec-Fetch-Site` (W3C Fetch Metadata) or, where the browser
 * does not send it, by `Origin`.
 */
export function isFromOwnPage(fetchSite: string, origin: string, publicUrl: string): boolean {
  if (fetchSite !== '') return fetchSite === 'same-origin';
  return origin === new URL(publicUrl).origin;
}
