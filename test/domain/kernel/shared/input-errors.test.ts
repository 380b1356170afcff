import { z } from 'zod';
import { fieldErrors, PARSING } from '../../../../domain/kernel/shared/input-errors.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';

const Nested = z.strictObject({
  url: z.url({ error: 'must be an http or https URL' }),
  method: z.enum(['POST', 'PUT']),
});
const Schema = z.strictObject({
  name: z.string().min(1).max(5),
  category: z.enum(['dev', 'test', 'release']),
  count: z.int().min(2).max(9).optional(),
  tags: z.array(z.string()).min(1).max(2).optional(),
  config: Nested.optional(),
  at: z.iso.datetime({ offset: true }).optional(),
  isActive: z.boolean().optional(),
  domain: z
    .union([z.string(), z.strictObject({ name: z.string(), packages: z.array(z.string()).optional() })])
    .optional(),
});
const good = { name: 'a', category: 'dev' };

const errorsOf = (input: unknown) => {
  const parsed = Schema.safeParse(input, PARSING);
  return [...fieldErrors('#/body', parsed.error?.issues ?? [])].map(({ pointer, detail }) => `${pointer} ${detail}`);
};

test.each<[unknown, string[]]>([
  [good, []],
  [undefined, ['#/body is required']],
  [[], ['#/body must be an object, not an array']],
  [{}, ['#/body/name is required', '#/body/category is required']],
  [{ ...good, name: undefined }, ['#/body/name is required']],
  [{ ...good, name: null }, ['#/body/name must be a string, not null']],
  [{ ...good, name: '' }, ['#/body/name must not be empty']],
  [{ ...good, name: 'abcdef' }, ['#/body/name must have at most 5 characters']],
  [{ ...good, category: 'relaese' }, ['#/body/category must be one of dev, test, release; did you mean release?']],
  [{ ...good, category: 'x'.repeat(100_000) }, ['#/body/category must be one of dev, test, release']],
  [{ ...good, category: 7 }, ['#/body/category must be one of dev, test, release']],
  [{ ...good, count: 1 }, ['#/body/count must be at least 2']],
  [{ ...good, count: 10 }, ['#/body/count must be at most 9']],
  [{ ...good, count: 2.5 }, ['#/body/count must be an integer, not a number']],
  [{ ...good, count: '2' }, ['#/body/count must be a number, not a string']],
  [{ ...good, tags: [] }, ['#/body/tags must not be empty']],
  [{ ...good, tags: ['a', 'b', 'c'] }, ['#/body/tags must have at most 2 elements']],
  [{ ...good, isActive: 'yes' }, ['#/body/isActive must be true or false, not a string']],
  [{ ...good, at: 'now' }, ['#/body/at must be a time in ISO 8601 with an offset, such as 2026-03-02T09:30:00Z']],
  [{ ...good, config: {} }, ['#/body/config/url is required', '#/body/config/method is required']],
  [
    { ...good, config: { url: 'http://a', metod: 'PUT', method: 'PUT' } },
    ['#/body/config/metod unknown field; did you mean method?'],
  ],
  [
    { ...good, catgory: 1, colour: 2 },
    ['#/body/catgory unknown field; did you mean category?', '#/body/colour unknown field'],
  ],
  [{ ...good, domain: {} }, ['#/body/domain/name is required']],
  [{ ...good, domain: { name: 'a', package: [] } }, ['#/body/domain/package unknown field; did you mean packages?']],
  [{ ...good, domain: 7 }, ['#/body/domain has none of the forms that are possible here']],
])('%j', (input, expected) => {
  expect(errorsOf(input)).toEqual(expected);
});

test('the nearest known name is looked for only for the first ten of many unknown fields', () => {
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`nam${index}`, 1]));
  let errors: string[] = [];
  expect(threadCpuMs(() => (errors = errorsOf({ ...good, ...many })))).toBeLessThan(2_000);
  expect(errors).toHaveLength(50_000);
  expect(errors.slice(9, 11)).toEqual(['#/body/nam9 unknown field; did you mean name?', '#/body/nam10 unknown field']);
});
