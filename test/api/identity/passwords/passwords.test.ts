import { type Caller, type TestApp, testApp } from '../../../support/app.ts';

const NEXT = 'another good password';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const signIn = async (status: number, { email }: Caller, password: string) => {
  const { access_token: token, refresh_token } = await app
    .as()
    .post(status, '/api/auth/admin/login', { email, password });
  return { token, refreshToken: refresh_token };
};
const change = (status: number, as: { token?: string }, currentPassword: string, newPassword: string) =>
  app.as(as).post(status, '/api/users/me/password', { currentPassword, newPassword });

test('changing the password ends every other session, in all tenants', async () => {
  const here = app.member;
  await app.as(app.stranger).post(201, '/api/users', { email: here.email, team: 'theirs' });
  const elsewhere = await app
    .as()
    .post(200, '/api/auth/admin/login', { email: here.email, password: here.password, tenant: 'other' });
  const other = await signIn(200, here, here.password);
  await change(204, here, here.password, NEXT);
  await app.as(here).get(200, '/api/users/me');
  await app.as(other).get(401, '/api/users/me');
  await app.as({ token: elsewhere.access_token }).get(401, '/api/users/me');
  await app.as().post(401, '/api/auth/refresh', { refresh_token: other.refreshToken });
  await signIn(401, here, here.password);
  await signIn(200, here, NEXT);
});

test('the current password is needed, and wrong ones are limited', async () => {
  for (let guess = 0; guess < 10; guess++) {
    const problem = await change(400, app.stranger, `guess ${guess}`, NEXT);
    expect(problem.errors[0].pointer).toBe('#/body/currentPassword');
  }
  await change(429, app.stranger, app.stranger.password, NEXT);
});

test('weak passwords are refused with the reason', async () => {
  for (const weak of ['short', 'qwerty123456', 'password1234']) {
    const problem = await change(400, app.owner, app.owner.password, weak);
    expect(problem.errors[0].pointer).toBe('#/body/newPassword');
  }
  await signIn(200, app.owner, app.owner.password);
});

test('an application token has no password', async () => {
  await change(403, app.application, 'whatever it is', NEXT);
});
