import { csvRecord } from '../../../../domain/kernel/text/csv-rules.ts';

test.each([
  ['plain', 'plain'],
  ['', ''],
  [null, ''],
  [undefined, ''],
  [0, '0'],
  [-5, '-5'],
  [true, 'true'],
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['+49', "'+49"],
  ['-5', "'-5"],
  ['@sum', "'@sum"],
  ['\tx', "'\tx"],
  ['\rx', '"\'\rx"'],
  ['=a,"b"', '"\'=a,""b"""'],
  [' =1', ' =1'],
  [{ a: ['=1'] }, '"{""a"":[""=1""]}"'],
])('%j', (cell, text) => {
  expect(csvRecord([cell])).toBe(`${text}\r\n`);
});

test('cells stand between commas', () => {
  expect(csvRecord(['a', null, 'b,c', 1])).toBe('a,,"b,c",1\r\n');
});
