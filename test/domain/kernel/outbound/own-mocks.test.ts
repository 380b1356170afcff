import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { createOwnListeners } from '../../../../domain/kernel/outbound/own-listeners.ts';
import { findOwnMocks, withOwnMocks, withoutAny, withoutOwn } from '../../../../domain/mocks/serving/own-mocks.ts';

const KEY = 'AbCdEfGhIjKlMnOpQrStUv';
const PUBLIC = 'https://quayside.example.com/quayside';
const findOwn = findOwnMocks({ publicUrl: PUBLIC, internalUrl: 'http://10.0.0.7:3000/quayside' });
const strict = outboundAddresses('');
const hosts = withOwnMocks(strict, findOwn);

test.each([
  [`${PUBLIC}/mocks/${KEY}`, `/quayside/mocks/${KEY}`],
  [`${PUBLIC}/mocks/${KEY}/`, `/quayside/mocks/${KEY}/`],
  [
    `${PUBLIC}/mocks/${KEY}/api/v4/projects/acme%2Fshop?page=2`,
    `/quayside/mocks/${KEY}/api/v4/projects/acme%2Fshop?page=2`,
  ],
  [`${PUBLIC}/mocks/${KEY}/a/../b`, `/quayside/mocks/${KEY}/b`],
  [`http://10.0.0.7:3000/quayside/mocks/${KEY}/x`, `/quayside/mocks/${KEY}/x`],
])('permits %s, and goes to the internal address', (url, path) => {
  expect(findOwn(url)).toEqual({ origin: 'http://10.0.0.7:3000', host: 'quayside.example.com', path });
  expect(hosts.refusedUrl(url)).toBeUndefined();
});

test.each([
  PUBLIC,
  `${PUBLIC}/`,
  `${PUBLIC}/api/users`,
  `${PUBLIC}/mocks`,
  `${PUBLIC}/mocks/`,
  `${PUBLIC}/mocks/short`,
  `${PUBLIC}/mocks/../api/users`,
  `${PUBLIC}/mocks%2f${KEY}`,
  `${PUBLIC}/mocks/${KEY}/../../api/users`,
  `${PUBLIC}/mocks/${KEY}/%2e%2e/%2e%2e/api/users`,
  `${PUBLIC}/mocks/${KEY}/..%2f..%2fapi/users`,
  `${PUBLIC}/mocks/${KEY}/..%252f..%252fapi/users`,
  `${PUBLIC}/mocks/${KEY}/%2e%2e%5c%2e%2e%5capi/users`,
  `${PUBLIC}/mocks/${KEY}%2f..%2f..%2fapi`,
  `${PUBLIC}%2fapi/users`,
  `https://quayside.example.com/x/..%2fquayside/api`,
  `https://user:secret@quayside.example.com/quayside/mocks/${KEY}`,
  'http://10.0.0.7:3000/quayside/metrics',
  'https://quayside.example.com./quayside/api/users',
])('refuses %s', (url) => {
  expect(findOwn(url)).toBe('refused');
  expect(hosts.refusedUrl(url)).toMatch(/^of the service itself/);
});

test('knows this machine by each of its names', () => {
  const find = findOwnMocks({ publicUrl: 'http://127.0.0.1:3000', internalUrl: 'http://127.0.0.1:3000' });
  for (const host of ['localhost', 'localhost.', '127.0.0.1', '127.8.8.8', '[::1]', 'x.localhost'])
    expect(find(`http://${host}:3000/mocks/${KEY}`)).toBeDefined();
  expect(find(`http://localhost:3001/mocks/${KEY}`)).toBeUndefined();
});

test('leaves other addresses to the policy, those of other services on its host included', () => {
  expect(findOwn('https://quayside.example.com/git/api')).toBeUndefined();
  expect(hosts.refusedUrl('https://api.example.com/mocks/x')).toBeUndefined();
  expect(hosts.refusedUrl('http://10.0.0.8:3000/mocks/x')).toBe('10.0.0.8 is not at a public address');
  expect(hosts.permitsIp('10.0.0.7')).toBe(false);
});

test('is no upstream itself', () => {
  const upstreams = withoutOwn(outboundAddresses('10.0.0.0/8'), findOwn, { has: () => false });
  expect(upstreams.refusedUrl(`${PUBLIC}/mocks/${KEY}`)).toMatch(/is no upstream/);
  expect(upstreams.refusedUrl('http://10.0.0.7:3000/quayside/api')).toMatch(/is no upstream/);
  expect(upstreams.refusedUrl('http://10.0.0.8/api')).toBeUndefined();
});

test('knows mocks at an origin of their own', () => {
  const mocksUrl = 'https://mocks.example.com/quayside';
  const find = findOwnMocks({ publicUrl: PUBLIC, mocksUrl, internalUrl: mocksUrl });
  const target = { origin: 'https://mocks.example.com', host: 'mocks.example.com', path: `/quayside/mocks/${KEY}/a` };
  expect(find(`${mocksUrl}/mocks/${KEY}/a`)).toEqual(target);
  expect(find(`${mocksUrl}/api/users`)).toBe('refused');
  expect(find(`${PUBLIC}/api/users`)).toBe('refused');
  expect(withoutOwn(strict, find, { has: () => false }).refusedUrl(`${mocksUrl}/mocks/${KEY}`)).toMatch(
    /is no upstream/,
  );
});

describe('this machine, where the service listens on the ports 3000 and 9464,', () => {
  const listeners = createOwnListeners([3000, 9464, 0], () => ['10.0.0.7', 'fe80::1', '2001:4860::7']);
  const upstreams = withoutOwn(outboundAddresses('10.0.0.0/8,127.0.0.0/8,::/0'), findOwn, listeners);

  test.each([
    'http://10.0.0.7:3000/',
    'http://10.0.0.7:9464/metrics',
    'http://[::ffff:10.0.0.7]:3000/',
    'http://[2001:4860:0:0::7]:3000/',
    'http://127.0.0.1:3000/',
    'http://127.8.8.8:3000/',
    'http://2130706433:3000/',
    'http://[::1]:3000/',
    'http://[::ffff:127.0.0.1]:3000/',
    'http://[::ffff:7f00:1]:3000/',
    'http://localhost:3000/',
    'http://a.localhost.:3000/',
    'https://LOCALHOST:3000/',
  ])('is no upstream: %s', (url) => {
    expect(upstreams.refusedUrl(url)).toMatch(/is no upstream/);
  });

  test.each(['http://10.0.0.7/', 'http://10.0.0.7:3001/', 'http://10.0.0.8:3000/', 'http://localhost:8080/'])(
    'is one elsewhere: %s',
    (url) => {
      expect(upstreams.refusedUrl(url)).toBeUndefined();
    },
  );
});

test('without an origin of their own, mocks of a production service pass nothing on', () => {
  expect(withoutAny(strict).refusedUrl('https://api.example.com')).toContain('MOCKS_URL');
});
