import { generateKeyPairSync, sign } from 'node:crypto';
import { cookieOf, fromOwnPage } from '../../../support/browser-session.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { AUDIENCE, openIdSimulator, type OpenIdSimulator } from '../../../simulators/openid-provider.ts';

const SESSION = '__Host-qs_session';
let provider: OpenIdSimulator;
let app: TestApp;
beforeAll(async () => {
  provider = await openIdSimulator();
  app = await testApp({ env: { OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: AUDIENCE } });
});
afterAll(async () => {
  await app.close();
  await provider.close();
});

const callback = (status: number, body: object, headers: Record<string, string> = {}) =>
  app.as().request(status, 'POST', '/api/auth/callback', { body, headers });
const signIn = () =>
  app.as().post(200, '/api/auth/admin/login', { email: app.owner.email, password: app.owner.password });
const me = (status: number, headers: Record<string, string>) =>
  app.as().request(status, 'GET', '/api/users/me', { headers });

test('an access token is exchanged for a session cookie that no script and no other site can use', async () => {
  const answer = await callback(200, { access_token: app.owner.token });
  const { body } = await me(200, { authorization: `Bearer ${app.owner.token}` });
  expect(answer.body).toEqual({ success: true, data: { userId: body.id } });
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-qs_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax$/),
  ]);
  const own = await me(200, { cookie: cookieOf(answer, SESSION) });
  expect(own.body.email).toBe(app.owner.email);
});

test('on loopback the cookie is not bound to https', async () => {
  const local = await testApp({ env: { PUBLIC_URL: 'http://127.0.0.1:3000' } });
  const { headers } = await local
    .as()
    .request(200, 'POST', '/api/auth/callback', { body: { access_token: local.owner.token } });
  expect(headers.getSetCookie()).toEqual([
    expect.stringMatching(/^qs_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/),
  ]);
  await local.close();
});

test('a refresh token given with it must be an unused one of the same session', async () => {
  const [first, second] = [await signIn(), await signIn()];
  await callback(200, { access_token: first.access_token, refresh_token: first.refresh_token });
  await callback(401, { access_token: first.access_token, refresh_token: second.refresh_token });
  await app.as().post(200, '/api/auth/refresh', { refresh_token: first.refresh_token });
  await callback(401, { access_token: first.access_token, refresh_token: first.refresh_token });
});

test('signing in always makes a new session, whatever cookie the browser brings', async () => {
  const planted = `${SESSION}=${'a'.repeat(43)}`;
  const first = cookieOf(await callback(200, { access_token: app.owner.token }, { cookie: planted }), SESSION);
  const second = cookieOf(await callback(200, { access_token: app.owner.token }, { cookie: first }), SESSION);
  expect(new Set([planted, first, second]).size).toBe(3);
  await me(401, { cookie: planted });
  await me(200, { cookie: second });
});

test('a session begun from a token ends with the session of that token', async () => {
  const { access_token, refresh_token } = await signIn();
  const cookie = cookieOf(await callback(200, { access_token }), SESSION);
  await me(200, { cookie });
  await app.as().post(204, '/api/auth/logout', { refresh_token });
  await me(401, { cookie });
  await callback(401, { access_token });
});

test('logout from a page ends the session and clears the cookie', async () => {
  const cookie = cookieOf(await callback(200, { access_token: app.owner.token }), SESSION);
  await app.as().request(403, 'POST', '/api/auth/logout', { headers: { cookie } });
  await me(200, { cookie });
  const { headers } = await app.as().request(204, 'POST', '/api/auth/logout', { headers: fromOwnPage(cookie) });
  expect(headers.getSetCookie()).toEqual([`${SESSION}=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax`]);
  await me(401, { cookie });
  await me(200, { authorization: `Bearer ${app.owner.token}` });
});

test.each([
  ['without any header about its origin', 403, {}],
  ['from another site', 403, { 'sec-fetch-site': 'cross-site', origin: 'http://quayside.test' }],
  ['from a sibling of the host', 403, { 'sec-fetch-site': 'same-site' }],
  ['from another origin', 403, { origin: 'http://evil.example' }],
  ['from an origin that hides itself', 403, { origin: 'null' }],
  ['from an origin that only begins like ours', 403, { origin: 'http://quayside.test.evil.example' }],
  ['from our own origin', 201, { origin: 'http://quayside.test' }],
  ['from our own page', 201, { 'sec-fetch-site': 'same-origin' }],
])('a write by the cookie %s: %i', async (where, status, headers) => {
  const cookie = cookieOf(await callback(200, { access_token: app.owner.token }), SESSION);
  await app
    .as()
    .post(
      status,
      '/api/application-tokens',
      { name: where.replaceAll(' ', '-') },
      { cookie, ...(headers as Record<string, string>) },
    );
});

test('a header beats the cookie, and neither the cookie as a bearer nor a token in the query is a credential', async () => {
  const cookie = cookieOf(await callback(200, { access_token: app.owner.token }), SESSION);
  expect((await me(200, { cookie, authorization: `Bearer ${app.member.token}` })).body.email).toBe(app.member.email);
  await me(401, { cookie, authorization: 'Bearer nonsense' });
  await me(401, { authorization: `Bearer ${cookie.split('=')[1]}` });
  await app.as().get(401, `/api/users/me?access_token=${app.owner.token}`);
  await app.as().get(401, `/api/users/me?token=${app.owner.token}`);
});

test('a token of the identity provider names a user by the verified e-mail', async () => {
  const token = await provider.issue({ email: app.member.email });
  const cookie = cookieOf(await callback(200, { access_token: token, refresh_token: 'of the provider' }), SESSION);
  expect((await me(200, { cookie })).body.email).toBe(app.member.email);
  await callback(403, { access_token: token, tenant: 'other' });
});

test('it is a bearer, too, with the role that the membership gives at that moment', async () => {
  const token = await provider.issue({ email: app.member.email });
  const setRole = (role: string) =>
    app.sql(`update membership set role = ? where user_id = (select id from user_account where email = ?)`, [
      role,
      app.member.email,
    ]);
  await app.as({ token }).get(403, '/api/application-tokens');
  await setRole('owner');
  await app.as({ token }).get(200, '/api/application-tokens');
  await setRole('member');
  await app.as({ token }).get(403, '/api/application-tokens');
});

test('an alias names the same user', async () => {
  await app.sql(
    `select claim_aliases((select id from user_account where email = ?), 'host-a', array['m@private.example'])`,
    [app.member.email],
  );
  const token = await provider.issue({ email: 'M@Private.example' });
  expect((await app.as({ token }).get(200, '/api/users/me')).email).toBe(app.member.email);
});

test('a valid token of somebody who is no member: 403 here, no credential elsewhere', async () => {
  const token = await provider.issue({ email: 'stranger@example.com' });
  expect((await callback(403, { access_token: token })).headers.getSetCookie()).toEqual([]);
  await app.as({ token }).get(401, '/api/users/me');
});

test('a token of a user who is no longer a member: 403', async () => {
  const { access_token } = await app
    .as()
    .post(200, '/api/auth/admin/login', { email: app.stranger.email, password: app.stranger.password });
  const former = await app.db
    .deleteFrom('membership')
    .where('tenantId', '<>', app.tenant.id)
    .returning(['id', 'tenantId', 'teamId', 'userId', 'role'])
    .execute();
  await callback(403, { access_token });
  await app.db.insertInto('membership').values(former).execute();
});

test.each([
  ['noise', () => 'nonsense'],
  ['an application token', () => app.application.token],
  ['an e-mail that is not verified', () => provider.token({ email: app.member.email, emailVerified: false })],
  ['another audience', () => provider.token({ email: app.member.email }, { claims: { aud: 'elsewhere' } })],
  ['an expired one', () => provider.token({ email: app.member.email }, { expiresInSeconds: -60 })],
])('%s is refused', async (_, token) => {
  const access_token = await token();
  await callback(401, { access_token });
  if (access_token !== app.application.token) await app.as({ token: access_token }).get(401, '/api/users/me');
});

test('a token signed with a foreign key is refused, though it names a session of ours', async () => {
  const [header = '', payload = ''] = app.owner.token.split('.');
  const { privateKey } = generateKeyPairSync('ed25519');
  const forged = `${header}.${payload}.${sign(null, Buffer.from(`${header}.${payload}`), privateKey).toString('base64url')}`;
  await app.as({ token: forged }).get(401, '/api/users/me');
  const [other] = await app.sql<{ id: string }>(`select id from tenant where slug = 'other'`);
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  const raised = Buffer.from(JSON.stringify({ ...claims, tenant: other?.id })).toString('base64url');
  await app.as({ token: `${header}.${raised}.${app.owner.token.split('.')[2]}` }).get(401, '/api/users/me');
});

test('a provider that is not reachable is named, and tokens of the service still work', async () => {
  const away = await testApp({ env: { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_AUDIENCE: AUDIENCE } });
  const token = await provider.token({ email: away.member.email }, { claims: { iss: 'http://127.0.0.1:1' } });
  const problem = await away.as().post(502, '/api/auth/callback', { access_token: token });
  expect(problem).toMatchObject({ code: 'upstream_error', detail: expect.stringContaining('identity provider') });
  await away.as({ token }).get(502, '/api/users/me');
  await away.as(away.owner).get(200, '/api/users/me');
  await away.close();
});
