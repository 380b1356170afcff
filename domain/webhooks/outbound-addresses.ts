import ipaddr from 'ipaddr.js';
import { type Config, ConfigError } from '../shared/config.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Which addresses the service calls out to. */
export interface OutboundAddresses {
  /** Why an address must not be called; undefined when it may. For what a name resolved to. */
  refusedIp: (ip: string) => string | undefined;
  /** Why a URL must not be called, as far as it shows without a look-up: scheme, credentials, a literal address. */
  refusedUrl: (url: string) => string | undefined;
}

/** What is open outside production unless the operator says otherwise: receivers on the same machine. */
const LOOPBACK_RANGES = '127.0.0.0/8,::1/128';

/** Global unicast, RFC 4291: everything else of IPv6 is special or unassigned. */
const GLOBAL_IPV6: Range = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Only public unicast addresses may be called, and those of the ranges that the operator opened.
 * @param allow CIDR ranges, comma-separated. Throws for a malformed one.
 */
export function outboundAddresses(allow: string): OutboundAddresses {
  const opened = allow.split(',').flatMap((range) => (range.trim() === '' ? [] : [parseRange(range.trim())]));
  const refused = (address: Address): string | undefined => {
    const isOpened = opened.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
    if (isOpened || isPublicUnicast(address)) return undefined;
    return `the address ${address.toString()} is not public (${address.range()})`;
  };
  const refusedIp = (ip: string) => (ipaddr.isValid(ip) ? refused(ipaddr.process(ip)) : `${ip} is not an address`);
  return {
    refusedIp,
    refusedUrl(url) {
      const parsed = URL.parse(url);
      if (!parsed || !/^https?:$/.test(parsed.protocol)) return 'only http and https addresses are called';
      if (parsed.username !== '' || parsed.password !== '')
        return 'credentials belong into headers, not into the address';
      // The parser has brought odd spellings (decimal, octal, hexadecimal) into the usual form.
      const host = literalHost(parsed.hostname);
      return host === undefined ? undefined : refusedIp(host);
    },
  };
}

/** The policy that the environment asks for. Throws `ConfigError`. */
export function configuredAddresses({
  OUTBOUND_ALLOW,
  isProduction,
}: Pick<Config, 'OUTBOUND_ALLOW' | 'isProduction'>): OutboundAddresses {
  try {
    return outboundAddresses(OUTBOUND_ALLOW ?? (isProduction ? '' : LOOPBACK_RANGES));
  } catch (error) {
    throw new ConfigError(`The environment variable OUTBOUND_ALLOW is malformed: ${(error as Error).message}.`);
  }
}

/** The address that a host name of a parsed URL stands for without a look-up; RFC 6761 fixes `localhost`. */
export function literalHost(hostname: string): string | undefined {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '');
  if (/(^|\.)localhost$/i.test(host)) return '127.0.0.1';
  return ipaddr.isValid(host) ? host : undefined;
}

function isPublicUnicast(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(...GLOBAL_IPV6);
}

function parseRange(text: string): Range {
  if (!ipaddr.isValidCIDR(text)) throw new Error(`${text} is not a range like 10.0.0.0/8`);
  return ipaddr.parseCIDR(text);
}
