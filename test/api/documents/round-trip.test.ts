import fc from 'fast-check';
import { compileFilter } from '../../../domain/events/webhooks/filter-rules.ts';
import { compileLinearRegex } from '../../../domain/events/webhooks/linear-regex.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { codePoint } from '../../support/code-points.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const at = (collection: string, key: string) =>
  `/api/doc-store/collections/${encodeURIComponent(collection)}/docs/${encodeURIComponent(key)}`;

/** Text that a database can keep. */
const text = fc.string({ unit: codePoint, maxLength: 20 }).filter((each) => !each.includes('\0'));
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      0.1,
      1e21,
      1e-7,
      5e-324,
      Number.MAX_VALUE,
      Number.MAX_SAFE_INTEGER,
      '__proto__',
      '"\\\u2028',
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.integer(),
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', '', '0', '-1')), tie('value'), {
      maxKeys: 4,
    }),
  ),
})).value;

test('what comes back is what went in, by each way in and out', async () => {
  const owner = app.as(app.owner);
  let made = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(json, { minLength: 1, maxLength: 20 }), async (values) => {
      const collection = `run/${++made}`;
      await owner.post(201, at(collection, 'single'), { value: values[0] });
      await owner.post(200, '/api/doc-store/bulk', {
        documents: values.map((value, n) => ({ collection, key: `many ${n}`, value })),
      });
      const expected = new Map([['single', values[0]], ...values.map((value, n) => [`many ${n}`, value] as const)]);
      const { documents } = await owner.get(200, `/api/doc-store/collections/${encodeURIComponent(collection)}`);
      const found = await owner.post(200, '/api/doc-store/collections/query', { pathPattern: collection });
      for (const list of [documents, found]) {
        expect(list).toHaveLength(expected.size);
        for (const { key, value } of list) expect(plain(value)).toEqual(plain(expected.get(key)));
      }
      expect(plain((await owner.get(200, at(collection, 'single'))).value)).toEqual(plain(values[0]));
    }),
    propertyRuns(10, 20),
  );
});

/** Without -0, which JSON does not tell from 0, and without prototypes, which `__proto__` as a member confuses. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    each === 0
      ? 0
      : each !== null && typeof each === 'object' && !Array.isArray(each)
        ? new Map(Object.entries(each))
        : each,
  );

test('filters in the database mean what the same filters of webhooks mean', async () => {
  const owner = app.as(app.owner);
  const leaf = fc.constantFrom<unknown>(
    null,
    true,
    0,
    1,
    -1,
    1.5,
    '',
    '1',
    'a',
    'Z',
    '\u{1F600}',
    '\uFFFD',
    [],
    [1],
    {},
    { a: 1 },
  );
  const member = fc.constantFrom('a', 'b', '0', '1', '-1', '01', 'c.d');
  const tree = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(member, tie('value'), { maxKeys: 4 }),
    ),
  })).value;
  const path = fc
    .array(member, { minLength: 1, maxLength: 3 })
    .map((segments) => segments.map((segment) => segment.replace('.', '\\.')).join('.'));
  const filter = fc.oneof(
    fc.tuple(path, fc.constantFrom('eq', 'ne'), leaf),
    fc.tuple(path, fc.constantFrom('in', 'nin'), fc.array(leaf, { maxLength: 4 })),
    fc.tuple(
      path,
      fc.constantFrom('gt', 'gte', 'lt', 'lte'),
      fc.constantFrom<unknown>(-1, 0, 1, '', '1', 'a', '\uFFFD'),
    ),
    fc.tuple(path, fc.constant('regex'), fc.constantFrom<unknown>('^$', '[a-z]', '1')),
  );
  const values = fc.sample(tree, { numRuns: 300, seed: 7 });
  const documents = values.map((value, n) => ({ collection: 'oracle', key: String(n).padStart(3, '0'), value }));
  await owner.post(200, '/api/doc-store/bulk', { documents });
  await fc.assert(
    fc.asyncProperty(fc.array(filter, { minLength: 1, maxLength: 3 }), async (filters) => {
      const tests = filters.map(([field, operator, value]) =>
        compileFilter({ [field]: { [operator]: value } }, compileLinearRegex),
      );
      const expected = documents.filter(({ value }) => tests.every((holds) => holds(value))).map(({ key }) => key);
      const body = {
        pathPattern: 'oracle',
        limit: 1_000,
        filters: filters.map(([field, operator, value]) => ({ field, operator, value })),
      };
      const found = await owner.post(200, '/api/doc-store/collections/query', body);
      expect(found.map(({ key }: { key: string }) => key)).toEqual(expected);
    }),
    propertyRuns(40, 150),
  );
});
