import { SecretMask } from '../../../activities/adapters/secret-mask.ts';

const SECRET = 'qs_run_qs_run_abc';
const masked = (pieces: readonly string[]): string => {
  const mask = new SecretMask(SECRET);
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
      expect(masked([text.slice(0, first), text.slice(first, second), text.slice(second)])).toBe(expected);
});
