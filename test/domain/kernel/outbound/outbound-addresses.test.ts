import ipaddr from 'ipaddr.js';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { EMBEDDING_IPV4, SPECIAL_IPV4, SPECIAL_IPV6 } from '../../../../domain/kernel/outbound/special-addresses.ts';

const strict = outboundAddresses('');
const development = outboundAddresses('127.0.0.0/8,::1/128');

test.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://0.0.0.0/',
  'http://0/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://a.localhost/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
  'http://[ff02::1]/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data',
  'http://168.63.129.16/machine',
  'http://2822734096/machine',
  'http://0xa8.077.33040/machine',
  'http://100.64.0.1/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://198.18.0.1/',
  'http://１２７.0.0.1/',
  'http://①⑥⑧.63.129.16/',
  'http://127.0.0.1./',
  'http:\\\\127.0.0.1\\',
  'http:127.0.0.1',
  'ftp://example.com/',
  'file:///etc/passwd',
  'http://user:secret@example.com/',
  'http://user@example.com/',
  'nonsense',
])('refused where nothing is opened: %s', (url) => {
  expect(strict.refusedUrl(url)).toEqual(expect.any(String));
});

test.each([
  'https://example.com/hook',
  'http://93.184.216.34:8080/',
  'https://[2606:2800:220:1::1]/',
  'http://localhost.example.com/',
  'http://169.254.169.254.example.com/',
  'http://8.8.8.8/10.0.0.1',
])('allowed: %s', (url) => {
  expect(strict.refusedUrl(url)).toBeUndefined();
});

test('a refusal names the host as it was given', () => {
  expect(strict.refusedUrl('http://2130706433:80/x')).toBe('2130706433 is not at a public address');
  expect(strict.refusedUrl('http://localhost/')).toBe('localhost is not at a public address');
  expect(strict.refusedUrl('https://[::ffff:10.0.0.1]:8443/')).toBe('[::ffff:10.0.0.1] is not at a public address');
  expect(strict.refusedHost('a.localhost')).toBe('a.localhost is not at a public address');
});

test('ranges that are opened are allowed, in every spelling', () => {
  for (const url of [
    'http://127.0.0.1:1/',
    'http://2130706433/',
    'http://localhost/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
  ]) {
    expect(development.refusedUrl(url)).toBeUndefined();
  }
  expect(development.refusedUrl('http://10.0.0.1/')).toMatch('10.0.0.1');
  expect(development.refusedUrl('http://0.0.0.0/')).toMatch('0.0.0.0');
  expect(development.permitsIp('::127.0.0.1')).toBe(false);
});

/** The first and the last address of a range. */
function endsOf(cidr: string): string[] {
  const [base, bits] = ipaddr.parseCIDR(cidr);
  const first = base.toByteArray();
  const last = first.map((byte, index) => byte | (0xff >> Math.min(8, Math.max(0, bits - index * 8))));
  return [first, last].map((bytes) => ipaddr.fromByteArray(bytes).toString());
}

const PRIVATE_IPV4 = ['10.1.2.3', '127.0.0.1', '169.254.169.254', '168.63.129.16', '100.100.100.200', '192.168.0.1'];

/** A private IPv4 address in every IPv6 notation that carries one. */
function embedding(ip: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number);
  const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
  const inHex = `${hex(a, b)}:${hex(c, d)}`;
  const inverted = `${hex(a ^ 255, b ^ 255)}:${hex(c ^ 255, d ^ 255)}`;
  return [
    `::ffff:${ip}`,
    `::ffff:${inHex}`,
    `0:0:0:0:0:ffff:${inHex}`,
    `::${ip}`,
    `::${inHex}`,
    `::ffff:0:${inHex}`,
    `64:ff9b::${ip}`,
    `64:ff9b:1::${inHex}`,
    `2002:${inHex}::1`,
    // Teredo: as the server, and as the client, whose address is inverted.
    `2001:0:${inHex}::1`,
    `2001:0:808:808::${inverted}`,
    `2606:2800:220:1:0:5efe:${inHex}`,
    `2606:2800:220:1:200:5efe:${inHex}`,
  ];
}

test.each([
  ...[...SPECIAL_IPV4, ...SPECIAL_IPV6].flatMap(({ cidr }) => endsOf(cidr)),
  ...PRIVATE_IPV4.flatMap(embedding),
  // Metadata and platform services of clouds.
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fe80::1%eth0',
  '4000::1',
  '::8.8.8.8',
  'not an address',
  '',
])('no request goes to %s', (ip) => {
  expect(strict.permitsIp(ip)).toBe(false);
});

test.each([
  '93.184.216.34',
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:2800:220:1::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2003::1',
  '::ffff:93.184.216.34',
  // What DNS64 answers for a public host without IPv6.
  '64:ff9b::93.184.216.34',
])('%s is public', (ip) => {
  expect(strict.permitsIp(ip)).toBe(true);
});

test('every range is listed once, with its source', () => {
  const all = [...SPECIAL_IPV4, ...SPECIAL_IPV6, ...EMBEDDING_IPV4];
  expect(new Set(all.map(({ cidr }) => cidr)).size).toBe(all.length);
  for (const { what } of all) expect(what).toMatch(/RFC \d+|Azure/);
});

test('a malformed range stops the start', () => {
  expect(() => outboundAddresses('10.0.0.0/8, 300.0.0.0/8')).toThrow('300.0.0.0/8');
});

test('the ranges that an operator lists are told apart from public addresses', () => {
  const { listedOnly, permitsIp } = outboundAddresses('10.1.0.0/16');
  expect(['10.1.2.3', '::ffff:10.1.2.3', '10.2.0.1', '93.184.216.34'].map(listedOnly.permitsIp)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(permitsIp('93.184.216.34')).toBe(true);
  expect(listedOnly.refusedHost('93.184.216.34')).toBe('93.184.216.34 is not at a public address');
});
