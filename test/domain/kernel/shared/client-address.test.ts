import { addressKey, clientAddress, parseTrustedProxies } from '../../../../domain/kernel/outbound/client-address.ts';

const PEER = '10.0.0.9';

const cases: [what: string, trusted: string, peer: string, forwardedFor: string, client: string][] = [
  ['no proxy: the header is the client’s own', '0', PEER, '1.1.1.1', PEER],
  ['no proxy, written as before', 'false', PEER, '1.1.1.1', PEER],
  ['one proxy', '1', PEER, '203.0.113.7', '203.0.113.7'],
  ['one proxy, and an entry that the client forged', '1', PEER, '1.1.1.1, 203.0.113.7', '203.0.113.7'],
  [
    'one proxy, and many entries that the client forged',
    '1',
    PEER,
    `${'1.1.1.1,'.repeat(5_000)}203.0.113.7`,
    '203.0.113.7',
  ],
  ['two proxies', '2', PEER, '1.1.1.1, 203.0.113.7, 10.0.0.8', '203.0.113.7'],
  ['two proxies, but one entry', '2', PEER, '203.0.113.7', '203.0.113.7'],
  ['one proxy, which names nobody', '1', PEER, '', PEER],
  ['one proxy, which names an unknown', '1', PEER, 'unknown', PEER],
  ['two proxies, of which one names an unknown', '2', PEER, '1.1.1.1, unknown, 10.0.0.8', '10.0.0.8'],
  ['an empty entry', '2', PEER, '1.1.1.1,,10.0.0.8', '10.0.0.8'],
  ['a name', '1', PEER, 'localhost', PEER],
  ['a short form of an address', '1', PEER, '127.1', PEER],
  ['a number', '1', PEER, '2130706433', PEER],
  ['a port', '1', PEER, '203.0.113.7:5123', '203.0.113.7'],
  ['IPv6 with a port', '1', PEER, '[2001:db8::7]:5123', '2001:db8::7'],
  ['IPv4 in IPv6', '1', '::ffff:10.0.0.9', '::ffff:203.0.113.7', '203.0.113.7'],
  ['ranges: the peer is no proxy', '10.0.0.0/8', '198.51.100.1', '1.1.1.1', '198.51.100.1'],
  ['ranges: a chain of proxies', '10.0.0.0/8,fd00::/8', PEER, '1.1.1.1, 203.0.113.7, fd00::1, 10.1.1.1', '203.0.113.7'],
  ['ranges: a forged entry in a range', '10.0.0.0/8', PEER, '10.0.0.1, 203.0.113.7', '203.0.113.7'],
  ['ranges: a client inside', '10.0.0.0/8', PEER, '10.2.2.2', '10.2.2.2'],
  ['ranges: IPv4 in IPv6', '10.0.0.0/8', '::ffff:10.0.0.9', '203.0.113.7', '203.0.113.7'],
];
test.each(cases)('%s', (_, trusted, peer, forwardedFor, client) => {
  expect(clientAddress(peer, forwardedFor, parseTrustedProxies(trusted) ?? -1)).toBe(client);
});

test.each(['true', '-1', '1.5', '21', '', 'loopback', '10.0.0.1', '10.0.0.0/33', '10.0.0.0/8,', '1,10.0.0.0/8'])(
  'what says neither a number nor ranges is refused: %s',
  (text) => {
    expect(parseTrustedProxies(text)).toBeUndefined();
  },
);

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2:FFFF::', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
])('%s counts as %s', (address, key) => {
  expect(addressKey(address)).toBe(key);
});
