import fc from 'fast-check';
import { parseJson } from '../../../../domain/kernel/json/parse-json.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const outcomeOf = async (parse: () => unknown) => {
  try {
    const value = await parse();
    // Printed, so that the order of members counts, too.
    return { value, text: JSON.stringify(value) };
  } catch (error) {
    return { error: (error as Error).name };
  }
};

const spaced = fc
  .tuple(fc.json({ maxDepth: 6 }), fc.constantFrom('', ' ', '\n', '\t \r'))
  .map(([text, space]) => space + text.replaceAll(/(?<=[[\]{},:])/g, space) + space);
const damaged = fc
  .tuple(spaced, fc.nat(), fc.constantFrom('', ',', '[', ']', '{', '}', '"', ':', '0', 'x', '\\', '\u00a0'), fc.nat(2))
  .map(([text, place, inserted, removed]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + inserted + text.slice(at + removed);
  });

test.each([
  ['valid texts', spaced],
  ['damaged texts', damaged],
])('parses %s as JSON.parse does, in steps of any size', async (_, texts) => {
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 12 }), async (text, stepChars) => {
      expect(await outcomeOf(() => parseJson(text, stepChars))).toEqual(await outcomeOf(() => JSON.parse(text)));
    }),
    propertyRuns(2_500, 10_000),
  );
});

test.each([
  ['{"a":[1,2,3],"a":4,"b":[5,6],"1":[7,8]}'],
  ['{"__proto__":[1,2,3],"constructor":{"__proto__":[1,2]}}'],
  ['[,]'],
  ['[1,,2]'],
  ['[[1,2,3]4]'],
  ['{"a":[1,2,3]"b":1}'],
  ['{"a":[1,2,3],}'],
  ['{[1,2,3]}'],
  ['{"x":1,"a" "b":[1,2,3]}'],
  ['[1,2,3]]'],
  ['x[1,2,3]'],
  ['[1,2,3}'],
  ['{"a":0,"b":[1,2,3],"c":{"d":[1,2,3] } }'],
  ['[ ]'],
  ['[[],[],[[ ]],{ }]'],
  ['"only text"'],
  [''],
])('%s', async (text) => {
  for (let stepChars = 1; stepChars < 8; stepChars++)
    expect(await outcomeOf(() => parseJson(text, stepChars))).toEqual(await outcomeOf(() => JSON.parse(text)));
});

test('nesting costs no further pass', async () => {
  const flat = `[${'[1,2],'.repeat(100_000)}0]`;
  const nested = '['.repeat(90) + flat + ']'.repeat(90);
  let value = await parseJson(nested);
  for (let level = 0; level < 90; level++) [value] = value as unknown[];
  expect(value).toHaveLength(100_001);
});
