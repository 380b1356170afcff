/** A range of addresses that no request may go to. */
export interface SpecialRange {
  cidr: string;
  what: string;
}

/**
 * What is not a public host in IPv4. Sources: IANA IPv4 Special-Purpose Address Registry (RFC 6890), with its entries that
 * are globally reachable but name no host of their own, and the platform addresses that clouds document.
 */
export const SPECIAL_IPV4: readonly SpecialRange[] = [
  { cidr: '0.0.0.0/8', what: 'this network, RFC 791' },
  { cidr: '10.0.0.0/8', what: 'private use, RFC 1918' },
  { cidr: '100.64.0.0/10', what: 'shared address space, RFC 6598; metadata of Alibaba Cloud at 100.100.100.200' },
  { cidr: '127.0.0.0/8', what: 'loopback, RFC 1122' },
  { cidr: '168.63.129.16/32', what: 'platform address of Azure' },
  { cidr: '169.254.0.0/16', what: 'link-local, RFC 3927; metadata of most clouds, credentials of ECS and EKS tasks' },
  { cidr: '172.16.0.0/12', what: 'private use, RFC 1918' },
  { cidr: '192.0.0.0/24', what: 'IETF protocol assignments, RFC 6890; metadata of Oracle Cloud at 192.0.0.192' },
  { cidr: '192.0.2.0/24', what: 'documentation, RFC 5737' },
  { cidr: '192.31.196.0/24', what: 'AS112, RFC 7535' },
  { cidr: '192.52.193.0/24', what: 'AMT, RFC 7450' },
  { cidr: '192.88.99.0/24', what: '6to4 relays, RFC 7526' },
  { cidr: '192.168.0.0/16', what: 'private use, RFC 1918' },
  { cidr: '192.175.48.0/24', what: 'AS112, RFC 7534' },
  { cidr: '198.18.0.0/15', what: 'benchmarking, RFC 2544' },
  { cidr: '198.51.100.0/24', what: 'documentation, RFC 5737' },
  { cidr: '203.0.113.0/24', what: 'documentation, RFC 5737' },
  { cidr: '224.0.0.0/4', what: 'multicast, RFC 5771' },
  { cidr: '240.0.0.0/4', what: 'reserved, RFC 1112; limited broadcast, RFC 8190' },
];

/** Global unicast (RFC 4291): every other IPv6 range is special or unassigned. */
export const GLOBAL_IPV6 = '2000::/3';

/**
 * What is not a public host in IPv6. Sources: IANA IPv6 Special-Purpose Address Registry (RFC 6890) and the clouds'
 * documents. Those outside `GLOBAL_IPV6` are listed for their reason alone.
 */
export const SPECIAL_IPV6: readonly SpecialRange[] = [
  { cidr: '::/96', what: 'unspecified, loopback and IPv4-compatible addresses, RFC 4291' },
  { cidr: '::ffff:0:0:0/96', what: 'IPv4-translated, RFC 2765' },
  { cidr: '64:ff9b:1::/48', what: 'local translation to IPv4, RFC 8215' },
  { cidr: '100::/64', what: 'discard, RFC 6666' },
  { cidr: '100:0:0:1::/64', what: 'dummy prefix, RFC 9780' },
  { cidr: '2001::/23', what: 'IETF protocol assignments, RFC 2928: Teredo, benchmarking, AMT, ORCHID and others' },
  { cidr: '2001:db8::/32', what: 'documentation, RFC 3849' },
  { cidr: '2002::/16', what: '6to4, RFC 3056: embeds any IPv4 address' },
  { cidr: '2620:4f:8000::/48', what: 'AS112, RFC 7534' },
  { cidr: '3fff::/20', what: 'documentation, RFC 9637' },
  { cidr: '5f00::/16', what: 'segment routing, RFC 9602' },
  {
    cidr: 'fc00::/7',
    what: 'unique local, RFC 4193; metadata of EC2 in fd00:ec2::/32, of Google Cloud at fd20:ce::254',
  },
  { cidr: 'fe80::/10', what: 'link-local, RFC 4291' },
  { cidr: 'fec0::/10', what: 'site-local, RFC 3879' },
  { cidr: 'ff00::/8', what: 'multicast, RFC 4291' },
];

/**
 * Ranges that stand for the IPv4 address in their last 32 bits, which decides: mapped addresses (RFC 4291) and the
 * translation that DNS64 answers in networks without IPv4 (RFC 6052).
 */
export const EMBEDDING_IPV4: readonly SpecialRange[] = [
  { cidr: '::ffff:0:0/96', what: 'IPv4-mapped, RFC 4291' },
  { cidr: '64:ff9b::/96', what: 'translation to IPv4, RFC 6052' },
];
