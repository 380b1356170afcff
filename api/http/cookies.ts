import { isLoopbackHost } from '../../domain/shared/loopback.ts';

/** `qs_session`: the session of a browser. `qs_oidc`: a sign-in under way at the identity provider. */
export type CookieName = 'qs_session' | 'qs_oidc';

/** The service's cookies: none is seen by scripts, none is sent with another site's writes (RFC 6265bis). */
export interface Cookies {
  /** The value that a `Cookie` header has for the name. */
  read(header: string, name: CookieName): string | undefined;
  /** A `Set-Cookie` value. */
  write(name: CookieName, value: string, maxAgeSeconds: number): string;
  /** A `Set-Cookie` value that removes the cookie. */
  clear(name: CookieName): string;
}

/**
 * @param publicUrl outside loopback the cookies are for https alone, with the prefix `__Host-`, so that no other host of
 * the domain can set them.
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
 * Whether a request was made by a page of the service itself. Browsers say so in `Sec-Fetch-Site` (W3C Fetch Metadata);
 * those that do not, or that are not on https, name the page's origin.
 */
export function isFromOwnPage(fetchSite: string, origin: string, publicUrl: string): boolean {
  if (fetchSite !== '') return fetchSite === 'same-origin';
  return origin === new URL(publicUrl).origin;
}
