import { startApi } from '../../support/api-process.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { ApiClient } from '../../support/client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({
    env: {
      RATE_LIMIT_PER_MINUTE: '40',
      AUTH_RATE_LIMIT_PER_MINUTE: '6',
      HOOK_RATE_LIMIT_PER_MINUTE: '5',
      TRUST_PROXY: '1',
    },
  });
});
afterAll(() => app.close());

const tryToken = async (headers: Record<string, string>) => {
  const body = { refresh_token: 'qs_rt_x' };
  return (await app.as().send('POST', '/api/auth/refresh', { body, headers })).status;
};
const tries = async (headersOf: (n: number) => Record<string, string>) => {
  const statuses = [];
  for (let n = 0; n < 8; n++) statuses.push(await tryToken(headersOf(n)));
  return statuses.filter((status) => status === 429).length;
};

test('each client behind the proxy has tries of its own', async () => {
  expect(await tries((n) => ({ 'x-forwarded-for': `203.0.113.${n}` }))).toBe(0);
});

test.each([
  ['an entry before the one of the proxy', (n: number) => ({ 'x-forwarded-for': `9.9.9.${n}, 203.0.113.70` })],
  ['Forwarded', (n: number) => ({ forwarded: `for=9.9.9.${n}`, 'x-forwarded-for': '203.0.113.71' })],
  ['X-Real-IP', (n: number) => ({ 'x-real-ip': `9.9.9.${n}`, 'x-forwarded-for': '203.0.113.72' })],
  [
    'X-Forwarded-Host and -Proto',
    (n: number) => ({ 'x-forwarded-host': `h${n}`, 'x-forwarded-proto': `p${n}`, 'x-forwarded-for': '203.0.113.73' }),
  ],
  [
    'another way to write the address',
    (n: number) => ({ 'x-forwarded-for': n % 2 ? '203.0.113.74' : '::ffff:203.0.113.74' }),
  ],
  ['a port', (n: number) => ({ 'x-forwarded-for': `203.0.113.75:${4000 + n}` })],
  ['spaces', (n: number) => ({ 'x-forwarded-for': `${' '.repeat(n)}203.0.113.76` })],
  ['another address of the same /64', (n: number) => ({ 'x-forwarded-for': `2001:db8:1:2:${n}::${n}` })],
  [
    'CF-Connecting-IP, True-Client-IP, X-Client-IP',
    (n: number) => ({
      'cf-connecting-ip': `9.9.9.${n}`,
      'true-client-ip': `9.9.9.${n}`,
      'x-client-ip': `9.9.9.${n}`,
      'x-forwarded-for': '203.0.113.77',
    }),
  ],
])('%s does not make another client', async (_, headersOf) => {
  expect(await tries(headersOf)).toBe(2);
});

test('another /64 is another client', async () => {
  expect(await tries((n) => ({ 'x-forwarded-for': `2001:db8:2:${n}::1` }))).toBe(0);
});

test('a credential has its limit over all processes', async () => {
  const other = await startApi(app);
  const clients = [app.as(app.member), new ApiClient(other.url, app.member)];
  const answers = await Promise.all(
    Array.from({ length: 120 }, (_, n) => (clients[n % 2] as ApiClient).send('GET', '/api/users/me')),
  );
  const passed = answers.filter(({ status }) => status === 200).length;
  expect(passed).toBeLessThanOrEqual(40);
  expect(passed).toBeGreaterThanOrEqual(38);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(120 - passed);
  await other.kill('SIGTERM');
});

describe('hooks', () => {
  const hook = async (repository: string, address: string) => {
    const { status } = await app.as().send('POST', '/api/hooks/host-a', {
      body: { repository: { full_name: repository } },
      headers: {
        'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
        'x-github-event': 'push',
        'x-forwarded-for': address,
      },
    });
    return status;
  };

  test('a repository has so many a minute from one address', async () => {
    for (let n = 0; n < 5; n++) expect(await hook('acme/one', '198.51.100.1')).toBe(401);
    expect(await hook('acme/one', '198.51.100.1')).toBe(429);
    expect(await hook('Acme/ONE', '198.51.100.1')).toBe(429);
    expect(await hook('acme/two', '198.51.100.1')).toBe(401);
    expect(await hook('acme/one', '198.51.100.2')).toBe(401);
  });

  test('an address has ten times as many over all repositories', async () => {
    const statuses = [];
    for (let n = 0; n < 60; n++) statuses.push(await hook(`acme/many-${n}`, '198.51.100.3'));
    expect(statuses.filter((status) => status === 401)).toHaveLength(50);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  });
});

test('while counts cannot be shared, requests go on and credentials are refused', async () => {
  await app.sql('alter table rate_limit rename to rate_limit_away');
  try {
    await app.as(app.owner).get(200, '/api/users/me');
    expect(await tryToken({ 'x-forwarded-for': '203.0.113.200' })).toBe(503);
  } finally {
    await app.sql('alter table rate_limit_away rename to rate_limit');
  }
  expect(await tryToken({ 'x-forwarded-for': '203.0.113.200' })).toBe(401);
});
