import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const PATH = '/api/doc-store/collections/bad/docs';
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const MEGABYTE = 1024 * 1024;

let made = 0;
const write = (value: string) =>
  app.as(app.owner).send('POST', `${PATH}/${++made}`, {
    rawBody: `{"value":${value}}`,
    headers: { 'content-type': 'application/json' },
  });

test.each<[string, string, number, string]>([
  ['U+0000', '"a\\u0000b"', 400, '#/body/value'],
  ['U+0000 in a name', '{"a\\u0000":1}', 400, '#/body/value/a'],
  ['half a surrogate pair', '["\\ud800"]', 400, '#/body/value/0'],
  ['1e400', '1e400', 400, '#/body/value'],
  ['2^53 + 1', '[9007199254740993]', 400, '#/body/value/0'],
  ['1e-400', '1e-400', 400, '#/body/value'],
  ['more digits than a number has', '0.1000000000000000055511151231257827', 400, '#/body/value'],
  ['a negative zero', '-0', 400, '#/body/value'],
  ['a negative zero with a fraction', '[1, -0.00]', 400, '#/body/value/1'],
  ['a negative zero with an exponent', '{"a":{"b":[0,-0E+5]}}', 400, '#/body/value/a/b/1'],
  ['what rounds to a negative zero', '[-1e-400]', 400, '#/body/value/0'],
  ['a number deep in a document', '{"a":[{},[],{"x/y~z":["1e400",{"":1e999}]}]}', 400, '#/body/value/a/2/x~1y~0z/1/'],
  ['depth 101', nested(101), 400, '#/body/value'],
  ['depth 10,000', nested(10_000), 400, '#/body'],
  ['1 MB + 1', JSON.stringify('x'.repeat(MEGABYTE - 1)), 413, '#/body/value'],
  ['numbers that are 1 MB when written out', `[${Array(4_000).fill('1e300').join(',')}]`, 413, '#/body/value'],
  ['no value', 'null,"version":0', 400, '#/body/version'],
])('%s is refused', async (_, value, status, pointer) => {
  const answer = await write(value);
  expect(answer).toMatchObject({ status, body: { status } });
  expect(answer.body.errors[0].pointer).toBe(pointer);
});

test.each<[string, string]>([
  ['0.1', '0.1'],
  ['2^53', '9007199254740992'],
  ['a number written another way', '100e-2'],
  ['a long number that is exact', '1000000000000000000000'],
  ['zeros', '[0.0, 0e5, -0.5, -0.05e1]'],
  ['what looks like a negative zero', '["-0", "2026-01-02", {"-0,":1}]'],
  ['digits in a string', '"9007199254740993 1e400"'],
  ['depth 100', nested(100)],
  ['1 MB', JSON.stringify('x'.repeat(MEGABYTE - 2))],
  ['__proto__', '{"__proto__":{"a":1},"constructor":2}'],
  ['a pair', '"\\ud83d\\ude00"'],
])('%s is kept', async (_, value) => {
  expect(await write(value)).toMatchObject({ status: 201 });
  const { text } = await app.as(app.owner).request(200, 'GET', `${PATH}/${made}`);
  expect(JSON.stringify(JSON.parse(text).value)).toEqual(JSON.stringify(JSON.parse(value)));
});

test.each(["it's", '--', 'a/b', '"', '\\', '%', '_', '*', ' ', '__proto__', 'constructor', '🙂', 'x'.repeat(255)])(
  'the key %j is a key',
  async (key) => {
    const path = `${PATH}/${encodeURIComponent(key)}`;
    await app.as(app.owner).post(201, path, { value: key });
    await expect(app.as(app.owner).get(200, path)).resolves.toMatchObject({ key, value: key });
  },
);

test.each(['x'.repeat(256), 'a%00b'])('there is nothing at the key %s', async (key) => {
  await app.as(app.owner).post(404, `${PATH}/${key}`, { value: 1 });
});

test.each(['', '/', 'a//b', '/a', 'a/', 'a/../b', '.', 'x'.repeat(256), 'a\0b', 7])(
  '%j is no name of a collection',
  async (name) => {
    const problem = await app.as(app.owner).post(400, '/api/doc-store/collections', { name });
    expect(problem.errors[0].pointer).toBe('#/body/name');
  },
);

test.each<[object, string]>([
  [{ pathPattern: 'x', filters: [{ field: 'a..b', operator: 'eq', value: 1 }] }, '#/body/filters/0/field'],
  [{ pathPattern: 'x', filters: [{ field: 'a', operator: 'eq' }] }, '#/body/filters/0/value'],
  [{ pathPattern: 'x', sort: [{ field: 'a\\b' }] }, '#/body/sort/0/field'],
  [{ pathPattern: 'x', fields: ['.'] }, '#/body/fields/0'],
  [{ pathPattern: 'x', limit: 1_001 }, '#/body/limit'],
  [
    { pathPattern: 'x', filters: Array.from({ length: 21 }, () => ({ field: 'a', operator: 'eq', value: 1 })) },
    '#/body/filters',
  ],
  [{ filters: [] }, '#/body/pathPattern'],
])('the query %j is refused', async (body, pointer) => {
  const problem = await app.as(app.owner).post(400, '/api/doc-store/collections/query', body);
  expect(problem.errors[0].pointer).toBe(pointer);
});
