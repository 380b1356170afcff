import { linksOf, upstreamOf, UpstreamsIn } from '../../../domain/mocks/serving/scenario-upstreams.ts';

const HOSTS = {
  upstream: 'https://login.example.com',
  upstreams: [
    { prefix: '/acme', upstream: 'https://acme.my.example.com' },
    { prefix: '/acme/files', upstream: 'https://acme.my.example.com/files' },
  ],
};

test.each([
  ['/services/oauth2/token?x=1', 'https://login.example.com', '/services/oauth2/token?x=1'],
  ['/acme/services/data', 'https://acme.my.example.com', '/services/data'],
  ['/acme?page=2', 'https://acme.my.example.com', '/?page=2'],
  ['/acme', 'https://acme.my.example.com', '/'],
  ['/acme/files/1', 'https://acme.my.example.com/files', '/1'],
  ['/acmeother/x', 'https://login.example.com', '/acmeother/x'],
])('passes %s on to %s%s', (given, upstream, target) => {
  expect(upstreamOf(HOSTS, given)).toEqual({ upstream, target });
});

test('knows no host for a path without a prefix where there is no upstream', () => {
  expect(upstreamOf({ ...HOSTS, upstream: null }, '/other')).toBeUndefined();
});

test('links the most specific address first', () => {
  expect(linksOf(HOSTS, 'https://quayside.example/mocks/k')).toEqual([
    { upstream: 'https://acme.my.example.com/files', baseUrl: 'https://quayside.example/mocks/k/acme/files' },
    { upstream: 'https://acme.my.example.com', baseUrl: 'https://quayside.example/mocks/k/acme' },
    { upstream: 'https://login.example.com', baseUrl: 'https://quayside.example/mocks/k' },
  ]);
});

test.each([['acme'], ['/'], ['/a/../b'], ['/a//b'], ['/a?b'], ['/%2e']])('refuses the prefix %s', (prefix) => {
  expect(UpstreamsIn.safeParse([{ prefix, upstream: 'https://example.com' }]).success).toBe(false);
});

test('refuses a prefix twice', () => {
  const one = { prefix: '/a', upstream: 'https://example.com' };
  expect(UpstreamsIn.safeParse([one, one]).success).toBe(false);
});
