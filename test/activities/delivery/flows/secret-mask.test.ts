import { SecretMask } from '../../../../activities/adapters/programs/secret-mask.ts';

const SECRET = 'qs_run_qs_run_abc';
const TOKEN = 'qs_run_3dKq8ZpW0vRt5LmXy7BnCe2HsJu9GfAa4TiQoErUwYk';
const maskedOf = (secret: string, pieces: readonly (string | Buffer)[]): string => {
  const mask = new SecretMask(secret);
  return Buffer.concat([...pieces.map((piece) => mask.take(Buffer.from(piece))), mask.end()]).toString();
};

test.each([
  ['nothing', '', ''],
  ['no secret', 'a line\n', 'a line\n'],
  ['the secret alone', SECRET, '***'],
  ['two of them in text', `a ${SECRET}${SECRET} b`, 'a ****** b'],
  ['a begin of the secret', 'a qs_run_qs_run_ab', 'a qs_run_qs_run_ab'],
  ['a begin, then the secret', `qs_run_${SECRET}.`, 'qs_run_***.'],
])('%s, however it is cut', (_, text, expected) => {
  for (let first = 0; first <= text.length; first++)
    for (let second = first; second <= text.length; second++)
      expect(maskedOf(SECRET, [text.slice(0, first), text.slice(first, second), text.slice(second)])).toBe(expected);
});

const encodings: [string, (secret: string) => string][] = [
  ['reversed', (secret) => [...secret].toReversed().join('')],
  ['hexadecimal', (secret) => Buffer.from(secret).toString('hex')],
  ['hexadecimal in capitals', (secret) => Buffer.from(secret).toString('hex').toUpperCase()],
  ['percent-encoded', (secret) => Buffer.from(secret).toString('hex').replace(/../g, '%$&')],
  ['base64', (secret) => Buffer.from(secret).toString('base64')],
  ['base64 of a header', (secret) => Buffer.from(`Authorization: Bearer ${secret}\n`).toString('base64')],
  ['base64 of a user and password', (secret) => Buffer.from(`x:${secret}`).toString('base64')],
  ['base64 for addresses', (secret) => Buffer.from(`{"t":"${secret}"}`).toString('base64url')],
  ['with a space between all letters', (secret) => [...secret].join(' ')],
  ['one letter a line', (secret) => [...secret].join('\r\n')],
  ['base64 in lines', (secret) => Buffer.from(secret).toString('base64').replace(/.{20}/g, '$&\n    ')],
  ['a dump in hexadecimal', (secret) => Buffer.from(secret).toString('hex').replace(/.{4}/g, '$& ')],
];

describe.each(encodings)('%s', (_, encode) => {
  test('is masked, however it is cut', () => {
    const text = `before ${encode(TOKEN)} after`;
    const whole = maskedOf(TOKEN, [text]);
    expect(whole).toMatch(/^before \S*\*\*\*\S*\s+after$/);
    for (let cut = 0; cut <= text.length; cut++)
      expect(maskedOf(TOKEN, [text.slice(0, cut), text.slice(cut)])).toBe(whole);
  });

  test('of another token is not', () => {
    const other = encode(TOKEN.replace('3dKq', '4dKq'));
    expect(maskedOf(TOKEN, [other])).toBe(other);
  });
});

test('what stays of it does not tell the token', () => {
  const rest = maskedOf(TOKEN, [Buffer.from(`Bearer ${TOKEN}`).toString('base64')]).replace('***', '');
  // One character more than what stood before it, and one after, which a letter of the token decides in part.
  expect(rest.length - Buffer.from('Bearer ').toString('base64').length).toBeLessThanOrEqual(2);
});

test('letters of it far apart are no secret, and are not held back for ever', () => {
  const mask = new SecretMask(SECRET);
  const apart = `${SECRET.slice(0, 8)}${' '.repeat(40)}${SECRET.slice(8)}`;
  expect(Buffer.concat([mask.take(Buffer.from(apart)), mask.end()]).toString()).toBe(apart);
  expect(mask.take(Buffer.from(`q${' '.repeat(33)}`)).length).toBeGreaterThan(0);
});

test('bytes that are no text stay as they are', () => {
  const bytes = Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 37) % 256));
  const mask = new SecretMask(TOKEN);
  expect(Buffer.concat([mask.take(bytes), mask.end()]).equals(bytes)).toBe(true);
});
