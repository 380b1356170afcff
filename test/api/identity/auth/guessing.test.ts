import { type TestApp, testApp } from '../../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const guess = async (email: string, password: string): Promise<number> => {
  const { status } = await app.as().send('POST', '/api/auth/admin/login', { body: { email, password } });
  return status;
};

test('of signInThrottle by the hundred ten are looked at, and even the right one after them is not', async () => {
  const statuses = await Promise.all(Array.from({ length: 200 }, (_, at) => guess(app.member.email, `guess ${at}`)));
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(190);
  expect(await guess(app.member.email, app.member.password)).toBe(429);
  expect(await guess(app.owner.email, app.owner.password)).toBe(200);
});

test('signInThrottle at a user who does not exist are held back the same', async () => {
  const statuses = await Promise.all(
    Array.from({ length: 30 }, (_, at) => guess('nobody@acme.example', `guess ${at}`)),
  );
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(20);
});
