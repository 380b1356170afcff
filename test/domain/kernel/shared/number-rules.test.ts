import fc from 'fast-check';
import { doubtfulNumbers, isExact, pointerAt } from '../../../../domain/kernel/text/number-rules.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

/** The first number of a JSON text that is not exact. */
const found = (text: string) => doubtfulNumbers(text).find(({ source }) => !isExact(source));
const inexactNumber = (text: string) => found(text)?.source;

/** Value as an exact fraction: digits and power of ten, by big integers. */
function fraction(number: string): [bigint, number] {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', part = ''] = mantissa.split('.');
  let digits = BigInt(whole.replace('-', '') + part);
  let power = Number(exponent) - part.length;
  if (digits === 0n) return [0n, 0];
  while (digits % 10n === 0n) {
    digits /= 10n;
    power++;
  }
  return [number.startsWith('-') ? -digits : digits, power];
}

const survives = (number: string): boolean => {
  const value = JSON.parse(number) as number;
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  const [[a, b], [c, d]] = [fraction(number), fraction(String(value))];
  return a === c && b === d;
};

const digits = (min: number, max: number) =>
  fc.array(fc.nat(9), { minLength: min, maxLength: max }).map((list) => list.join(''));
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      fc.tuple(fc.integer({ min: 1, max: 9 }), digits(0, 20)).map(([a, b]) => `${a}${b}`),
    ),
    fc.option(digits(1, 20), { nil: undefined }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.nat(400)), { nil: undefined }),
  )
  .map(
    ([sign, whole, part, exponent]) =>
      `${sign}${whole}${part === undefined ? '' : `.${part}`}${exponent?.join('') ?? ''}`,
  );

test('a number is refused exactly when parsing and printing alters it', () => {
  fc.assert(
    fc.property(fc.oneof(number, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)), (text) => {
      expect(inexactNumber(text)).toBe(survives(text) ? undefined : text);
    }),
    propertyRuns(5_000, 20_000),
  );
});

test('in a text the first such number is found, and none in strings', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          number,
          fc.string().map((text) => JSON.stringify(text)),
        ),
        { maxLength: 6 },
      ),
      (parts) => {
        const expected = parts.find((part) => !part.startsWith('"') && !survives(part));
        expect(inexactNumber(`[ ${parts.join(' , ')}]`)).toBe(expected);
        expect(inexactNumber(JSON.stringify(parts))).toBeUndefined();
      },
    ),
    propertyRuns(1_000, 5_000),
  );
});

test.each([
  '9007199254740993',
  '-9007199254740993',
  '1e400',
  '1e309',
  '4e-324',
  '20000000000e298',
  '0.1000000000000000055',
  '123456789012345678',
])('%s is found as the rule says', (text) => {
  expect(inexactNumber(`[1,${text},2]`)).toBe(survives(text) ? undefined : text);
});

test.each([
  '9007199254740993',
  '1e400',
  '-1e400',
  '1e-400',
  '-0',
  '-0.0',
  '-0e7',
  '0.1000000000000000055511151231257827',
])('%s is found where it is, in any document', (source) => {
  const plant = '"@planted@"';
  const document = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value));
  fc.assert(
    fc.property(fc.array(fc.oneof(document, fc.constant(plant)), { minLength: 1 }), fc.string(), (parts, name) => {
      const text = `{"x":[${parts.join()}],${JSON.stringify(`n${name}`)}:{"y":${plant}}}`;
      const planted = text.replaceAll(plant, source);
      const written = found(planted);
      const pointer = pointerAt(planted, written?.index ?? 0);
      let at: unknown = JSON.parse(text);
      for (const segment of pointer.split('/').slice(1))
        at = (at as Record<string, unknown>)[segment.replaceAll('~1', '/').replaceAll('~0', '~')];
      // The parts before the first one that was planted hold no such number: their zeros are written without a sign.
      expect(written?.source).toBe(source);
      expect(at).toBe('@planted@');
    }),
  );
});

test.each([
  '0',
  '0.0',
  '-0.5',
  '-0.05e1',
  '1e21',
  '100e-2',
  '9007199254740992',
  '["-0", "1e400"]',
  '{"-0":1,"a -0,":2}',
])('%s is exact', (text) => {
  expect(inexactNumber(text)).toBeUndefined();
});
