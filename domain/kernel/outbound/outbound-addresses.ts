import ipaddr from 'ipaddr.js';
import { type Config, ConfigError } from '../settings/config.ts';
import { EMBEDDING_IPV4, GLOBAL_IPV6, SPECIAL_IPV4, SPECIAL_IPV6 } from './special-addresses.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/**
 * Which addresses requests may go to. Refusals name the host as it was given, never an address that it
 * resolved to: that would show strangers the names and addresses of the network behind the service.
 */
export interface AddressPolicy {
  /** Whether requests may go to an IP address. For the results of name resolution. */
  permitsIp: (ip: string) => boolean;
  /** Why the host of a parsed URL must not be called, as far as is known before it is resolved. */
  refusedHost: (hostname: string) => string | undefined;
  /** Why a URL must not be called, as far as is known before its host is resolved: scheme, credentials, a literal address. */
  refusedUrl: (url: string) => string | undefined;
  /** Why nothing must be sent over a connection, which was made to a permitted address. Absent: it may. */
  refusedPeer?: (ip: string, port: number) => string | undefined;
}

/** Where the service may send requests to: public addresses, and the ranges that the operator lists. */
export interface OutboundAddresses extends AddressPolicy {
  /** The listed ranges alone. */
  listedOnly: AddressPolicy;
}

/** The policy forbids to call an address; another try would find the same. */
export class RefusedAddressError extends Error {}

/** Allowed outside production unless `OUTBOUND_ALLOW` is set: receivers on the same machine. */
const LOOPBACK_RANGES = '127.0.0.0/8,::1/128';

/**
 * Allows public unicast addresses and those of the given ranges.
 * @param allow CIDR ranges, separated by commas. Throws for a malformed one.
 */
export function outboundAddresses(allow: string): OutboundAddresses {
  const allowed = allow.split(',').flatMap((range) => (range.trim() === '' ? [] : [parseRange(range.trim())]));
  const isListed = (address: Address) => isWithin(address, allowed);
  return { ...policy((address) => isListed(address) || isPublic(address)), listedOnly: policy(isListed) };
}

function policy(isPermitted: (address: Address) => boolean): AddressPolicy {
  const permitsIp = (ip: string): boolean =>
    ipaddr.isValid(ip) && !IPV4_COMPATIBLE.test(ip) && isPermitted(denoted(ipaddr.parse(ip)));
  const refusedHost = (hostname: string, given = hostname) => {
    const literal = literalHost(hostname);
    return literal === undefined || permitsIp(literal) ? undefined : notPublic(given);
  };
  return {
    permitsIp,
    refusedHost,
    refusedUrl(url) {
      const parsed = URL.parse(url);
      if (!parsed || !/^https?:$/.test(parsed.protocol)) return 'only http and https URLs are allowed';
      if (parsed.username !== '' || parsed.password !== '') return 'credentials belong in headers, not in the URL';
      return refusedHost(parsed.hostname, givenHost(url) ?? parsed.hostname);
    },
  };
}

/** The refusal of a host. @param host as it was given. */
export const notPublic = (host: string): string => `${host} is not at a public address`;

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

/**
 * The IP address that the host of a parsed URL denotes without resolution; RFC 6761 defines that of `localhost`. The URL
 * parser has normalised the other notations of IPv4 (decimal, octal, hexadecimal).
 */
export function literalHost(hostname: string): string | undefined {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '');
  if (/(^|\.)localhost$/i.test(host)) return '127.0.0.1';
  return ipaddr.isValid(host) ? host : undefined;
}

/** The host as it is written in a URL without credentials: parsed, `http://2130706433` would read `127.0.0.1`. */
const givenHost = (url: string): string | undefined =>
  /^\s*https?:[/\\]*(\[[^\]/\\]*\]|[^:/\\?#\s\p{Cc}]+)/iu.exec(url)?.[1];

/** The address that is called in the end. */
function denoted(address: Address): Address {
  if (!isWithin(address, EMBEDDING)) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(-4));
}

const THIS_MACHINE = ['127.0.0.0/8', '0.0.0.0/32', '::1/128', '::/128'].map(parseRange);

/** Whether an IP address, in any notation, is the loopback, or the unspecified address that leads there. */
export const isThisMachine = (ip: string): boolean =>
  ipaddr.isValid(ip) && isWithin(denoted(ipaddr.parse(ip)), THIS_MACHINE);

/** One notation of each IP address, that of IPv4 where an IPv6 address embeds one. */
export const canonicalIp = (ip: string): string =>
  ipaddr.isValid(ip) ? denoted(ipaddr.parse(ip)).toNormalizedString() : ip;

function isPublic(address: Address): boolean {
  if (address.kind() === 'ipv4') return !isWithin(address, IPV4);
  return isWithin(address, GLOBAL) && !isWithin(address, IPV6) && !isOfIsatap(address);
}

/** ISATAP (RFC 5214) writes an IPv4 address, which need not be public, into the lower half of any IPv6 address. */
function isOfIsatap(address: Address): boolean {
  const bytes = address.toByteArray();
  return (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

/** `::10.0.0.1`, as resolvers print it: ipaddr.js takes it for the mapped `::ffff:10.0.0.1`. */
const IPV4_COMPATIBLE = /^::\d+\.\d+\.\d+\.\d+(%|$)/;

const isWithin = (address: Address, ranges: readonly Range[]): boolean =>
  ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));

function parseRange(text: string): Range {
  if (!ipaddr.isValidCIDR(text)) throw new Error(`${text} is not a range like 10.0.0.0/8`);
  return ipaddr.parseCIDR(text);
}

const IPV4 = SPECIAL_IPV4.map(({ cidr }) => parseRange(cidr));
const IPV6 = SPECIAL_IPV6.map(({ cidr }) => parseRange(cidr));
const EMBEDDING = EMBEDDING_IPV4.map(({ cidr }) => parseRange(cidr));
const GLOBAL = [parseRange(GLOBAL_IPV6)];
