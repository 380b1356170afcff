import fc from 'fast-check';
import { z } from 'zod';
import {
  anyText,
  mapOf,
  openObject,
  textUpTo,
  trimmedText,
  valueOf,
} from '../../../../domain/kernel/overrides/large-maps.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { codePoint } from '../../../support/code-points.ts';

const pairs: [string, z.ZodType, z.ZodType][] = [
  ['an open object', z.record(z.string(), z.unknown()), openObject()],
  ['texts to texts', z.record(z.string(), z.string()), mapOf(anyText, anyText)],
  [
    'names to names',
    z.record(z.string().trim().min(1).max(5), z.string().trim().min(1).max(4)),
    mapOf(trimmedText(5), trimmedText(4)),
  ],
  [
    'names to several types',
    z.record(z.string().max(3), z.union([z.string().max(2), z.number()])),
    mapOf(textUpTo(3), valueOf(z.union([z.string().max(2), z.number()]))),
  ],
];

const text = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 8 }),
  fc.constantFrom(
    '',
    ' ',
    ' a ',
    'a',
    '\u00a0b',
    '__proto__',
    ' __proto__',
    'constructor',
    'toString',
    '1',
    '-1',
    '1e3',
  ),
);
const member = fc.oneof({ weight: 6, arbitrary: text }, fc.jsonValue({ maxDepth: 2 }));
/** Made by parsing, so that `__proto__` is a member like any other. */
const object = fc
  .array(fc.tuple(text, member), { maxLength: 8 })
  .map((members) => JSON.parse(`{${members.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join(',')}}`));
const anything = fc.oneof({ weight: 9, arbitrary: object }, fc.jsonValue(), fc.constantFrom(undefined, new Date(0)));

test.each(pairs)('%s: the same meaning as a record of Zod', (_, record, map) => {
  fc.assert(
    fc.property(anything, (given) => {
      const before = structuredClone(given);
      const [expected, found] = [record.safeParse(given), map.safeParse(given)];
      expect(found.success).toBe(expected.success);
      expect(found.data).toEqual(expected.data);
      expect(Object.keys(found.data ?? {})).toEqual(Object.keys(expected.data ?? {}));
      expect(found.error?.issues).toEqual(expected.error?.issues);
      expect(given).toEqual(before);
    }),
    propertyRuns(500, 3_000),
  );
});

test.each(pairs)('%s: the same JSON schema', (_, record, map) => {
  for (const io of ['input', 'output'] as const)
    expect(z.toJSONSchema(map, { io })).toEqual(z.toJSONSchema(record, { io }));
});

test('optional, described, refined and in objects it stays what it is', () => {
  const refined = mapOf(trimmedText(5), anyText)
    .refine((map) => Object.keys(map).length < 2, 'too many')
    .meta({ description: 'a map' });
  const schema = z.strictObject({ a: refined.optional() });
  expect(schema.parse({})).toEqual({});
  expect(schema.parse({ a: { ' x ': 'y' } })).toEqual({ a: { x: 'y' } });
  expect(schema.safeParse({ a: { x: '1', y: '2' } }).error?.issues[0]?.message).toBe('too many');
  expect(schema.safeParse({ a: { toolong: '1' } }).error?.issues[0]?.path).toEqual(['a', 'toolong']);
});

test('a thousand invalid entries are reported', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, n]));
  expect(mapOf(anyText, anyText).safeParse(many).error?.issues).toHaveLength(1_000);
});

test('too many entries are refused without a look at them', () => {
  const map = mapOf(trimmedText(5), trimmedText(5), { max: 2, message: 'at most 2' });
  expect(map.safeParse({ a: 'b', c: 'd' }).success).toBe(true);
  expect(map.safeParse({ a: 1, b: 2, c: 3 }).error?.issues).toMatchObject([{ message: 'at most 2', path: [] }]);
});
