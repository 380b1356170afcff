import ipaddr from 'ipaddr.js';
import { type Config, ConfigError } from '../shared/config.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Which addresses the service may send requests to. */
export interface OutboundAddresses {
  /** Why an IP address must not be called; undefined if it may be. For the results of name resolution. */
  refusedIp: (ip: string) => string | undefined;
  /** Why a URL must not be called, as far as is known before its host is resolved: scheme, credentials, a literal address. */
  refusedUrl: (url: string) => string | undefined;
}

/** Allowed outside production unless `OUTBOUND_ALLOW` is set: receivers on the same machine. */
const LOOPBACK_RANGES = '127.0.0.0/8,::1/128';

/** Global unicast, RFC 4291: all other IPv6 ranges are special or unassigned. */
const GLOBAL_IPV6: Range = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Allows public unicast addresses and those of the given ranges.
 * @param allow CIDR ranges, separated by commas. Throws for a malformed one.
 */
export function outboundAddresses(allow: string): OutboundAddresses {
  const allowed = allow.split(',').flatMap((range) => (range.trim() === '' ? [] : [parseRange(range.trim())]));
  const refused = (address: Address): string | undefined => {
    const isAllowed = allowed.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
    if (isAllowed || isPublicUnicast(address)) return undefined;
    return `the address ${address.toString()} is not public (${address.range()})`;
  };
  const refusedIp = (ip: string) => (ipaddr.isValid(ip) ? refused(ipaddr.process(ip)) : `${ip} is not an address`);
  return {
    refusedIp,
    refusedUrl(url) {
      const parsed = URL.parse(url);
      if (!parsed || !/^https?:$/.test(parsed.protocol)) return 'only http and https URLs are allowed';
      if (parsed.username !== '' || parsed.password !== '') return 'credentials belong in headers, not in the URL';
      // The URL parser has normalised other notations of an IP address (decimal, octal, hexadecimal).
      const host = literalHost(parsed.hostname);
      return host === undefined ? undefined : refusedIp(host);
    },
  };
}

/** The policy of the configuration. Throws `ConfigError`. */
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

/** The IP address that the host of a parsed URL denotes without resolution; RFC 6761 defines that of `localhost`. */
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
