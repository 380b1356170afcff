import { type TestApp, testApp } from '../../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const signIn = (status: number, body: object) => app.as().post(status, '/api/auth/admin/login', body);
const isRefused = (token: string) => app.as({ token }).get(401, '/api/users/me');

test('a password opens a session whose token names the user', async () => {
  const body = await signIn(200, { email: app.owner.email.toUpperCase(), password: app.owner.password });
  expect(body).toMatchObject({ success: true, aal: 'aal1', user: { email: app.owner.email, role: 'owner' } });
  const me = await app.as({ token: body.access_token }).get(200, '/api/users/me');
  expect(me).toMatchObject({ email: app.owner.email, role: 'owner', teams: ['owners'], authData: {} });
});

test.each([
  ['a wrong password', { email: 'owner@acme.example', password: 'wrong' }],
  ['an unknown user', { email: 'nobody@acme.example', password: 'wrong' }],
])('%s is refused with the same words', async (_, body) => {
  const problem = await signIn(401, body);
  expect(problem).toMatchObject({
    success: false,
    error: 'The e-mail or the password is wrong',
    code: 'unauthenticated',
  });
});

test('no cache on the way keeps the tokens', async () => {
  const { email, password } = app.owner;
  const { headers } = await app.as().request(200, 'POST', '/api/auth/admin/login', { body: { email, password } });
  expect(headers.get('cache-control')).toBe('no-store');
});

test('a tenant to which the user does not belong cannot be chosen', async () => {
  await signIn(401, { email: app.owner.email, password: app.owner.password, tenant: 'other' });
  await signIn(200, { email: app.owner.email, password: app.owner.password, tenant: 'acme' });
});

test('after ten failures the pair of address and e-mail is held back, others are not', async () => {
  const email = 'guessed@acme.example';
  for (let guess = 0; guess < 10; guess++) await signIn(401, { email, password: `guess ${guess}` });
  await signIn(429, { email, password: 'one more' });
  await signIn(200, { email: app.owner.email, password: app.owner.password });
});

test('a refresh token works once, and its second use ends the session', async () => {
  const first = await signIn(200, { email: app.owner.email, password: app.owner.password });
  const second = await app.as().post(200, '/api/auth/refresh', { refresh_token: first.refresh_token });
  expect(second).toMatchObject({ success: true, user: { email: app.owner.email } });
  await app.as().post(401, '/api/auth/refresh', { refresh_token: first.refresh_token });
  await app.as().post(401, '/api/auth/refresh', { refresh_token: second.refresh_token });
  await isRefused(second.access_token);
});

test('a refresh token used ten times at once is used once', async () => {
  const { refresh_token } = await signIn(200, { email: app.owner.email, password: app.owner.password });
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => app.as().send('POST', '/api/auth/refresh', { body: { refresh_token } })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test('after logout the access token is refused at once', async () => {
  const { access_token, refresh_token } = await signIn(200, { email: app.owner.email, password: app.owner.password });
  await app.as().post(204, '/api/auth/logout', { refresh_token });
  await isRefused(access_token);
  await app.as().post(204, '/api/auth/logout', { refresh_token: 'qs_ref_unknown' });
});

test('a role that is taken away is gone on the next request', async () => {
  await app.as(app.member).get(403, '/api/application-tokens');
  await app.sql(`update membership set role = 'owner' where user_id = (select id from user_account where email = ?)`, [
    app.member.email,
  ]);
  await app.as(app.member).get(200, '/api/application-tokens');
  await app.sql(`update membership set role = 'member' where user_id = (select id from user_account where email = ?)`, [
    app.member.email,
  ]);
  await app.as(app.member).get(403, '/api/application-tokens');
});

test.each([
  ['nothing', ''],
  ['no token', 'Bearer '],
  ['another scheme', 'Basic abc'],
  ['noise', 'Bearer abc.def.ghi'],
  ['an unknown application token', `Bearer qs_app_${'a'.repeat(43)}`],
  [
    'an unsigned token',
    `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"x"}').toString('base64url')}.`,
  ],
])('%s is no credential', async (_, authorization) => {
  const { headers } = await app
    .as()
    .request(401, 'GET', '/api/users/me', { headers: authorization ? { authorization } : {} });
  expect(headers.get('www-authenticate')).toBe('Bearer');
});

test('sign-ins and their ends stand in the audit trail', async () => {
  const rows = await app.sql<{ action: string }>(
    `select distinct action from audit_entry where action like 'auth.%' order by 1`,
  );
  expect(rows.map(({ action }) => action)).toEqual(['auth.session_ended', 'auth.signed_in']);
});

test('the public keys check the tokens', async () => {
  const { keys } = await app.as().get(200, '/.well-known/jwks.json');
  expect(keys).toEqual([
    expect.objectContaining({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: expect.any(String) }),
  ]);
  expect(keys[0]).not.toHaveProperty('d');
});
