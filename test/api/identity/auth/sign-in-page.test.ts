import { request } from 'undici';
import { cookieOf, fromOwnPage } from '../../../support/browser-session.ts';
import { codeOf } from '../../../support/totp.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

const SESSION = '__Host-qs_session';
const LINK = '/api/auth/continue?action=frontDoorUrl&params=targetOrg%3Adev1%40acme.example%2Crepository%3Aacme%2Fshop';
let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const open = (status: number, path: string, headers: Record<string, string> = {}) =>
  app.as().request(status, 'GET', path, { headers });
const submit = (status: number, fields: Record<string, string>, headers: Record<string, string> = fromOwnPage()) =>
  app.as().request(status, 'POST', '/api/auth/sign-in', {
    rawBody: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
const credentials = () => ({ email: app.owner.email, password: app.owner.password });
const fieldOf = (page: string, name: string): string =>
  (new RegExp(`name="${name}"[^>]* value="([^"]*)"`).exec(page)?.[1] ?? '').replaceAll('&amp;', '&');

test('without a session a link leads to the sign-in page, which leads back to the link', async () => {
  const { text, headers } = await open(200, LINK);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'/,
  );
  expect(headers.get('cache-control')).toBe('no-store');
  expect(text).not.toMatch(/<script| on\w+=|single sign-on/);
  const signedIn = await submit(200, { ...credentials(), next: fieldOf(text, 'next') });
  expect(signedIn.text).toContain(`content="0;url=${LINK.replaceAll('&', '&amp;')}"`);
  const { headers: onward } = await open(302, LINK, { cookie: cookieOf(signedIn, SESSION) });
  expect(onward.get('location')).toBe('/api/auth/crm/frontdoor?target=dev1%40acme.example&repository=acme%2Fshop');
});

test('a person who opens a link without a session is led to the sign-in page, and programs get the problem', async () => {
  const path = '/api/flows/runs?limit=5';
  const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  // `fetch` sets the headers that say so itself.
  const asked = (headers: Record<string, string>) => request(app.url + path, { headers });
  const { statusCode, headers } = await asked(navigation);
  const signInPage = String(headers.location);
  expect([statusCode, signInPage]).toEqual([302, `/api/auth/sign-in?${new URLSearchParams({ next: path })}`]);
  expect(fieldOf((await open(200, signInPage)).text, 'next')).toBe(path);
  const cookie = cookieOf(await submit(200, credentials()), SESSION);
  expect((await asked({ ...navigation, cookie })).statusCode).toBe(200);
  for (const refused of [
    {},
    { ...navigation, 'sec-fetch-dest': 'iframe' },
    { ...navigation, authorization: 'Bearer wrong' },
  ])
    expect((await asked(refused)).statusCode).toBe(401);
});

test('with a bearer credential the link leads on, too, and a bad one leads to the page', async () => {
  const { headers } = await app
    .as(app.member)
    .request(302, 'GET', '/api/auth/continue?action=frontDoorUrl&params=targetOrg:dev1,prodOrg:prod');
  expect(headers.get('location')).toBe('/api/auth/crm/frontdoor?target=dev1&prodOrg=prod');
  await app.as({ token: 'nonsense' }).request(200, 'GET', LINK);
});

test('a wrong password brings the form back with the reason, the e-mail and the link, and no session', async () => {
  const { text, headers } = await submit(401, { email: app.owner.email, password: 'wrong', next: LINK });
  expect(text).toMatch(/<title>Error: Sign in/);
  expect(text).toMatch(/role="alert"[^>]*>The e-mail or the password is wrong\./);
  expect([fieldOf(text, 'email'), fieldOf(text, 'next')]).toEqual([app.owner.email, LINK]);
  expect(text).not.toContain('value="wrong"');
  expect(headers.getSetCookie()).toEqual([]);
});

test('too many failures are said on the page', async () => {
  const guess = { email: 'guessed@acme.example', password: 'wrong' };
  for (let time = 0; time < 10; time++) await submit(401, guess);
  expect((await submit(429, guess)).text).toContain('Too many failed sign-ins');
});

test('where a second factor is set up the page asks for its code', async () => {
  const { uri } = await app.as(app.member).post(201, '/api/users/me/totp');
  const { recoveryCodes } = await app.as(app.member).post(200, '/api/users/me/totp/confirm', { code: codeOf(uri) });
  const { email, password } = app.member;
  const asked = await submit(200, { email, password, next: LINK });
  expect(asked.headers.getSetCookie()).toEqual([]);
  const ticket = fieldOf(asked.text, 'ticket');
  expect(ticket).not.toContain(email);
  const wrong = await submit(401, { ticket, code: '000000', next: LINK });
  expect(wrong.text).toContain('The code is wrong');
  const right = await submit(200, { ticket: fieldOf(wrong.text, 'ticket'), code: recoveryCodes[0], next: LINK });
  const cookie = cookieOf(right, SESSION);
  expect((await open(200, '/api/users/me', { cookie })).body.email).toBe(email);
  await app.as().request(204, 'DELETE', '/api/users/me/totp', { headers: fromOwnPage(cookie) });
  expect((await submit(401, { ticket: 'v1.made.up', code: '000000' })).text).toContain('That took too long');
});

test('the form is taken from our own page only', async () => {
  await submit(403, credentials(), {});
  await submit(403, credentials(), { origin: 'http://evil.example' });
  await submit(403, credentials(), { origin: 'http://quayside.test', 'sec-fetch-site': 'cross-site' });
});

const ELSEWHERE = [
  '//evil.example',
  '\\evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '\t//evil.example',
  'javascript:alert(1)',
  '/javascript:alert(1)//',
  'https://evil.example',
  'http:evil.example',
  '/%2f/evil.example',
  '/%5cevil.example',
  '%2f%2fevil.example',
  '/api/..//evil.example',
  '/%2e%2e//evil.example',
  '/%0d%0aLocation:%20//evil.example',
  '/\r\nLocation: //evil.example',
  'evil.example',
  '@evil.example',
  '',
];

test.each(ELSEWHERE)('%j is no place to go to after sign-in', async (next) => {
  const query = new URLSearchParams({ next }).toString();
  await open(400, `/api/auth/sign-in?${query}`);
  await open(400, `/api/auth/oidc/start?${query}`);
  const { headers } = await submit(400, { ...credentials(), next });
  expect(headers.getSetCookie()).toEqual([]);
});

test.each(ELSEWHERE.filter((target) => target !== 'evil.example'))('%j is no org to continue to', async (target) => {
  const query = new URLSearchParams({ action: 'frontDoorUrl', params: `targetOrg:${target}` });
  await app.as(app.owner).get(400, `/api/auth/continue?${query}`);
});

test('what can be the name of an org is a value in the query of our own path, and no more', async () => {
  const { headers } = await app
    .as(app.owner)
    .request(302, 'GET', '/api/auth/continue?action=frontDoorUrl&params=targetOrg:evil.example');
  expect(headers.get('location')).toBe('/api/auth/crm/frontdoor?target=evil.example');
});

test.each([
  ['another action', 'action=somethingElse&params=targetOrg:dev1'],
  ['no org', 'action=frontDoorUrl&params=repository:acme/shop'],
  ['an org twice', 'action=frontDoorUrl&params=targetOrg:dev1,targetOrg:dev2'],
  ['no parameters', 'action=frontDoorUrl'],
  ['noise', 'action=frontDoorUrl&params=,,'],
])('a link with %s is refused', async (_, query) => {
  await app.as().get(400, `/api/auth/continue?${query}`);
});

test('what a visitor sends comes back as text', async () => {
  const hostile = '"><script>alert(1)</script>';
  const { text } = await submit(401, { email: hostile, password: 'x', tenant: hostile });
  expect(text).not.toContain('<script');
  expect(text).toContain('&lt;script&gt;');
});
