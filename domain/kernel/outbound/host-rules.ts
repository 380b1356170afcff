export type ParsedHost =
  | { isOk: true /** In lower case; IPv6 in brackets. */; host: string }
  | { isOk: false /** Completes "has a host …". */; reason: string };

/**
 * Reads the host of an address: a name in ASCII, four decimal numbers, or IPv6 in brackets. Other notations are refused,
 * because parsers of URLs read them in several ways, and what is checked by one would be called by another.
 */
export function parseHost(name: string): ParsedHost {
  const host = name.toLowerCase();
  if (host.startsWith('[')) {
    const literal = /^\[[\da-f:.]+\]$/.test(host) ? URL.parse(`https://${host}/`)?.hostname : undefined;
    return literal === undefined ? refused('that is not an IPv6 address') : { isOk: true, host: literal };
  }
  if (/[^\u0020-\u007e]/.test(host)) return refused('with other than ASCII letters; write it as xn--…');
  if (host.endsWith('.')) return refused('that ends in a dot');
  if (host.length > 253 || !HOST.test(host)) return refused('that is not a name');
  if (URL.parse(`https://${host}/`)?.hostname !== host) return refused('in a notation that is read in several ways');
  return { isOk: true, host };
}
const HOST = /^[a-z\d_]([a-z\d_-]{0,61}[a-z\d_])?(\.[a-z\d_]([a-z\d_-]{0,61}[a-z\d_])?)*$/;

const refused = (reason: string): ParsedHost => ({ isOk: false, reason });

/** A host with its port in one spelling: without the dot of the root, and without the ports that schemes have by default. */
export const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:(?:80|443)$/, '')
    .replace(/\.(?=:|$)/, '');

/** Whether a host name, as a parsed URL spells it, is this machine itself (RFC 6761 fixes `localhost`). */
export const isLoopbackHost = (hostname: string): boolean =>
  /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
