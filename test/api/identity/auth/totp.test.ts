import { type Caller, type TestApp, testApp } from '../../../support/app.ts';
import { eventually } from '../../../support/worker.ts';
import { codeOf } from '../../../support/totp.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());
afterEach(() => app.sql('delete from user_totp; delete from sign_in_failure'));
// A step that ends while a test runs would make its codes older than it says.
beforeEach(() =>
  eventually(
    async () => (Date.now() / 1_000) % 30,
    (seconds) => seconds < 26,
  ),
);

const signIn = (status: number, { email, password }: Caller, totp?: string) =>
  app.as().post(status, '/api/auth/admin/login', { email, password, ...(totp !== undefined && { totp }) });

async function setUp(caller: Caller): Promise<{ uri: string; recoveryCodes: string[] }> {
  const { uri } = await app.as(caller).post(201, '/api/users/me/totp');
  const { recoveryCodes } = await app.as(caller).post(200, '/api/users/me/totp/confirm', { code: codeOf(uri, -1) });
  return { uri, recoveryCodes };
}

test('an offered secret counts only once a code of it confirms it', async () => {
  const { secret, uri } = await app.as(app.member).post(201, '/api/users/me/totp');
  expect(uri).toContain(`secret=${secret}`);
  expect(uri).toContain(encodeURIComponent(app.member.email));
  await signIn(200, app.member);
  await app.as(app.member).post(400, '/api/users/me/totp/confirm', { code: codeOf(uri, 40) });
  const { recoveryCodes } = await app.as(app.member).post(200, '/api/users/me/totp/confirm', { code: codeOf(uri) });
  expect(new Set(recoveryCodes).size).toBe(10);
  await app.as(app.member).post(409, '/api/users/me/totp');
  await app.as(app.member).post(400, '/api/users/me/totp/confirm', { code: codeOf(uri, 1) });
});

test('with it, a password alone is refused with words that say so, and with a code it gives aal2', async () => {
  const { uri } = await setUp(app.member);
  expect(await signIn(401, app.member)).toMatchObject({
    success: false,
    error: expect.stringContaining('code'),
    secondFactor: 'totp',
  });
  expect(await signIn(401, { ...app.member, password: 'wrong' }, codeOf(uri))).not.toHaveProperty('secondFactor');
  const { aal, access_token, refresh_token } = await signIn(200, app.member, codeOf(uri));
  expect(aal).toBe('aal2');
  expect(JSON.parse(Buffer.from(access_token.split('.')[1], 'base64url').toString())).toMatchObject({ aal: 'aal2' });
  expect(await app.as().post(200, '/api/auth/refresh', { refresh_token })).toMatchObject({ aal: 'aal2' });
});

test('a code works once, also when it comes ten times at once, and those before it are gone', async () => {
  const { uri } = await setUp(app.member);
  const { email, password } = app.member;
  const body = { email, password, totp: codeOf(uri, 1) };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => app.as().send('POST', '/api/auth/admin/login', { body })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 401)]);
  await app.sql('delete from sign_in_failure');
  await signIn(401, app.member, codeOf(uri, 0));
});

test.each([
  [-1, 401],
  [0, 200],
  [1, 200],
  [3, 401],
  [-3, 401],
])('the code of %i steps from now: %i', async (steps, status) => {
  const { uri } = await app.as(app.member).post(201, '/api/users/me/totp');
  await app.as(app.member).post(200, '/api/users/me/totp/confirm', { code: codeOf(uri, -1) });
  await signIn(status, app.member, codeOf(uri, steps));
});

test('a recovery code works once in place of a code', async () => {
  const { recoveryCodes } = await setUp(app.member);
  const [code = ''] = recoveryCodes;
  expect(await signIn(200, app.member, code.toUpperCase())).toMatchObject({ aal: 'aal2' });
  await signIn(401, app.member, code);
});

test('attempts with codes are limited, whatever address they come from', async () => {
  const { uri } = await setUp(app.member);
  for (let guess = 0; guess < 10; guess++) await signIn(401, app.member, `00000${guess}`);
  await signIn(429, app.member, codeOf(uri));
  await app.sql('delete from sign_in_failure');
  await signIn(200, app.member, codeOf(uri));
});

test('only a session that was begun with it removes it', async () => {
  const { uri } = await app.as(app.owner).post(201, '/api/users/me/totp');
  const before = await signIn(200, app.owner);
  await app.as(app.owner).post(200, '/api/users/me/totp/confirm', { code: codeOf(uri) });
  await app.as({ token: before.access_token }).delete(403, '/api/users/me/totp');
  const { access_token } = await signIn(200, app.owner, codeOf(uri, 1));
  await app.as({ token: access_token }).delete(204, '/api/users/me/totp');
  await signIn(200, app.owner);
});

test('an application token has none', async () => {
  await app.as(app.application).post(403, '/api/users/me/totp');
});

test('the secret is encrypted for its person, the recovery codes are hashed, and the trail knows neither', async () => {
  const { secret, uri } = await app.as(app.member).post(201, '/api/users/me/totp');
  const { recoveryCodes } = await app.as(app.member).post(200, '/api/users/me/totp/confirm', { code: codeOf(uri) });
  const rows = await app.sql('select t.secret, c.code_hash from user_totp t join user_recovery_code c using (user_id)');
  const trail = await app.sql(`select * from audit_entry where action like 'user.second_factor%'`);
  expect(rows).toHaveLength(10);
  expect(trail.length).toBeGreaterThan(1);
  for (const hidden of [secret, ...recoveryCodes]) expect(JSON.stringify([rows, trail])).not.toContain(hidden);
});
