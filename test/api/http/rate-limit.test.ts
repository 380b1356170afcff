import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: { RATE_LIMIT_PER_MINUTE: '5', AUTH_RATE_LIMIT_PER_MINUTE: '6' } });
});
afterAll(() => app.close());

test('a credential has so many requests a minute, and is told; others are not held back by it', async () => {
  for (let left = 4; left >= 0; left--) {
    const { headers } = await app.as(app.member).request(200, 'GET', '/api/users/me');
    expect(headers.get('ratelimit')).toMatch(new RegExp(`^"token";r=${left};t=\\d+$`));
    expect(headers.get('ratelimit-policy')).toBe('"token";q=5;w=60');
  }
  const { body, headers } = await app.as(app.member).request(429, 'GET', '/api/users/me');
  expect(body).toMatchObject({ code: 'rate_limited', status: 429 });
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  await app.as(app.owner).get(200, '/api/users/me');
});

test('an address has so many tries at credentials a minute, whoever it claims to be', async () => {
  // Three people signed in from here when the app was made.
  const statuses = [];
  for (let n = 0; n < 5; n++) {
    const { status } = await app.as().send('POST', '/api/auth/refresh', { body: { refresh_token: `qs_rt_${n}` } });
    statuses.push(status);
  }
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
});

test('a reply that says that nothing has changed counts a tenth of a request', async () => {
  const ask = (status: number, etag = '""') =>
    app.as(app.application).request(status, 'GET', '/api/projects', { headers: { 'if-none-match': etag } });
  const first = await ask(200);
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^W\/"[\w-]{27}"$/);
  for (let n = 0; n < 20; n++) expect(await ask(304, etag)).toMatchObject({ text: '' });
  await ask(304, '*');
  expect((await ask(200)).headers.get('etag')).toBe(etag);
  await ask(429);
});

test('a token in another spelling is refused, and has no limit of its own', async () => {
  const { token } = app.owner;
  const last = token.at(-1) ?? '';
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const surplusBits = token.slice(0, -1) + alphabet[alphabet.indexOf(last) ^ 1];
  const tabbed = `${token.slice(0, -5)}\t${token.slice(-5)}`;
  for (const spelling of [surplusBits, `${token}=`, `${token}==`, tabbed])
    await app.as({ ...app.owner, token: spelling }).request(401, 'GET', '/api/users/me');
});
