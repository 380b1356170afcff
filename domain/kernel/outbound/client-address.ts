import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Which of the addresses before this service are its own proxies: so many, or those in some ranges. */
export type TrustedProxies = number | readonly [Address, number][];

const HOPS_MAX = 20;
/** More entries than a chain of proxies has; the rest is whatever a client sent. */
const ENTRIES_READ = 50;

/** Reads a number of proxies, or a list of ranges: `10.0.0.0/8,fd00::/8`. Undefined for anything else. */
export function parseTrustedProxies(text: string): TrustedProxies | undefined {
  if (text === 'false') return 0;
  if (/^\d{1,2}$/.test(text)) return Number(text) <= HOPS_MAX ? Number(text) : undefined;
  const ranges = text.split(',').map((each) => each.trim());
  if (!ranges.every((each) => ipaddr.isValidCIDR(each))) return undefined;
  return ranges.map((each) => ipaddr.parseCIDR(each));
}

/**
 * The address of the client: `X-Forwarded-For` is read from the right, where the nearest proxy wrote, and what a client
 * wrote itself is to the left of what the proxies added. A trusted proxy that names no address is taken for the client.
 * @param peer the address that the connection came from.
 * @param forwardedFor the header's value.
 */
export function clientAddress(peer: string, forwardedFor: string, trusted: TrustedProxies): string {
  const entries = forwardedFor === '' ? [] : forwardedFor.split(',', 10_000).slice(-ENTRIES_READ);
  let current = parseAddress(peer);
  if (!current) return peer;
  for (let hop = 0; isTrusted(current, hop, trusted); hop++) {
    const before = parseAddress(entries[entries.length - 1 - hop] ?? '');
    if (!before) break;
    current = before;
  }
  return current.toString();
}

const isTrusted = (address: Address, hop: number, trusted: TrustedProxies): boolean =>
  typeof trusted === 'number'
    ? hop < trusted
    : trusted.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));

/** With or without a port, as some proxies write it. An IPv4 address in IPv6 is the IPv4 address. */
function parseAddress(text: string): Address | undefined {
  const trimmed = text.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
  // Four parts: the parser also takes the shorter and octal forms, which no proxy writes.
  if (!bare.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(bare)) return undefined;
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}

/** What limits count a client by: an IPv4 address, or the /64 of an IPv6 address, all of which one subscriber has. */
export function addressKey(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
}
