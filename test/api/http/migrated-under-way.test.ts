import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

test('a migration that changes what a prepared statement answers costs each connection one request', async () => {
  const client = app.as(app.owner);
  const read = () => client.send('GET', '/api/doc-store/collections');
  const write = (n: number) => client.send('POST', '/api/doc-store/collections', { body: { name: `c${n}` } });
  const statuses = (answers: { status: number }[], but: number) =>
    answers.map(({ status }) => status).filter((status) => status !== but);
  // Often enough for all connections to know both statements.
  await Promise.all(Array.from({ length: 40 }, (_, n) => Promise.all([read(), write(n)])));
  await app.sql('alter table document_collection alter column id type text');

  const during = await Promise.all(Array.from({ length: 60 }, read));
  expect(new Set(statuses(during, 200))).toEqual(new Set([503]));
  await Promise.all(Array.from({ length: 60 }, (_, n) => write(100 + n)));
  for (let round = 0; round < 3; round++) {
    expect(statuses(await Promise.all(Array.from({ length: 40 }, read)), 200)).toEqual([]);
    expect(
      statuses(await Promise.all(Array.from({ length: 40 }, (_, n) => write(1_000 * (round + 1) + n))), 201),
    ).toEqual([]);
  }
});
