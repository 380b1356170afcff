import fc from 'fast-check';
import { exceededLimit } from '../../../../domain/kernel/json/json-size-rules.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { codePoint } from '../../../support/code-points.ts';

/** Levels and members of a parsed value. */
function sizeOf(value: unknown): { levels: number; members: number } {
  if (typeof value !== 'object' || value === null) return { levels: 0, members: 0 };
  const inner = Object.values(value).map(sizeOf);
  return {
    levels: 1 + Math.max(0, ...inner.map(({ levels }) => levels)),
    members: inner.reduce((sum, { members }) => sum + members, inner.length),
  };
}

const NOTHING = { levels: 1_000, members: 1_000_000 };
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Any JSON text: any white space, any way to escape. */
const jsonText = fc
  .tuple(fc.jsonValue({ maxDepth: 6, stringUnit: codePoint }), fc.constantFrom('', ' ', '\n\t', '\r  '), fc.boolean())
  .map(([value, space, isEscaped]) => {
    const text = JSON.stringify(value)
      .split(/("(?:[^"\\]|\\.)*")/s)
      .map((part, index) => (index % 2 === 1 ? part : part.replace(/[[\]{},:]/g, `${space}$&${space}`)))
      .join('');
    return isEscaped
      ? text.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : text;
  });

test('counts of every JSON text are those of its parsed value', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      const { levels, members } = sizeOf(JSON.parse(text));
      const bytes = bytesOf(text);
      const compactBytes = bytesOf(JSON.stringify(JSON.parse(text))).length;
      expect(exceededLimit(bytes, { levels, members, compactBytes })).toBeUndefined();
      if (levels > 0) expect(exceededLimit(bytes, { ...NOTHING, levels: levels - 1 })).toBe('levels');
      if (members > 0) expect(exceededLimit(bytes, { ...NOTHING, members: members - 1 })).toBe('members');
    }),
    propertyRuns(500, 2_000),
  );
});

test.each<[string, string, number, number]>([
  ['a bare value', '1', 0, 0],
  ['an empty array', ' [ ] ', 1, 0],
  ['brackets and commas in strings', '["[{,", "\\"]", "\\\\"]', 1, 3],
  ['a name given twice', '{"a":1,"a":2}', 1, 2],
  ['empty arrays in arrays', '[[],[[]],{}]', 3, 4],
  ['characters of several bytes', '["é","漢","😀"]', 1, 3],
])('%s', (_, text, levels, members) => {
  const bytes = bytesOf(text);
  expect(exceededLimit(bytes, { levels, members })).toBeUndefined();
  if (levels > 0) expect(exceededLimit(bytes, { ...NOTHING, levels: levels - 1 })).toBe('levels');
  if (members > 0) expect(exceededLimit(bytes, { ...NOTHING, members: members - 1 })).toBe('members');
});

test('any bytes come to an end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      exceededLimit(bytes, { levels: 3, members: 5 });
    }),
  );
});

test.each<[string, string, number]>([
  ['white space', ' { "a" : [ 1 , 2 ] } ', 11],
  ['escapes', '"\\u00e9\\n"', 4],
  ['numbers and words', '[1.000000, 12, true]', 7],
])('%s count as little as they can', (_, text, compactBytes) => {
  expect(exceededLimit(bytesOf(text), { ...NOTHING, compactBytes })).toBeUndefined();
  expect(exceededLimit(bytesOf(text), { ...NOTHING, compactBytes: compactBytes - 1 })).toBe('compactBytes');
});
