import { plainBytes, withoutCodes } from '../../../../domain/kernel/text/terminal-text-rules.ts';

test.each([
  ['colours', '\u001B[1;31mred\u001B[0m', 'red'],
  ['a moved cursor', 'a\u001B[2K\u001B[1A\u001B[999Db', 'ab'],
  ['sequences of one character', 'a\u009B2J\u0085b', 'ab'],
  ['titles and links', '\u001B]0;title\u0007a\u001B]8;;https://x.test\u001B\\b\u009Dtitle\u009Cc', 'abc'],
  ['a string that does not end', 'a\u001B]0;title\nb', 'a\nb'],
  ['device control', '\u001BPq#0\u001B\\a', 'a'],
  ['other escapes', '\u001Bca\u001B(Bb\u001B', 'ab'],
  ['lone returns', '10 %\r20 %\r\nnext\r', '10 %20 %\r\nnext'],
  ['other control characters', 'a\u0000\u0008\u000B\u007Fb', 'ab'],
  ['what is no code', 'ä\tß € 😀 [31m Â©\n', 'ä\tß € 😀 [31m Â©\n'],
])('%s: codes are removed, also from UTF-8, where it is known where the rest was', (_, text, plain) => {
  expect(withoutCodes(text)).toBe(plain);
  const all = Buffer.from(text);
  const { bytes, placeOf } = plainBytes(all);
  expect(bytes.toString()).toBe(plain);
  expect(Array.from(bytes, (__, at) => all[placeOf(at)])).toEqual([...bytes]);
});
