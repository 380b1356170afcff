import fc from 'fast-check';
import { inexactNumber } from '../../../domain/shared/number-rules.ts';

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
  if (!Number.isFinite(value)) return false;
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
    { numRuns: 20_000 },
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
    { numRuns: 5_000 },
  );
});

test.each([
  '9007199254740993',
  '-9007199254740993',
  '1e400',
  '1e309',
  '4e-324',
  '0.1000000000000000055',
  '123456789012345678',
])('%s is found as the rule says', (text) => {
  expect(inexactNumber(`[1,${text},2]`)).toBe(survives(text) ? undefined : text);
});
