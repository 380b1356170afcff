import { expressionProblem } from '../../../domain/documents/expression-rules.ts';

test.each([
  '',
  'abc|',
  '()',
  '^a+?b*c{2}d{1,3}e{0,}$',
  'a{x}',
  '{a',
  '(?i)a',
  '(?x) a b # (',
  '(?xt) *',
  '(?q)((',
  '***=((',
  '***:a',
  '[]a]',
  '[^]a]',
  '[a-]',
  '[-a]',
  '[[:alpha:][=a=][.-.]-z]',
  '[\\d\\]]',
  '[[:<:]]a[[:>:]]',
  '\\m\\d\\x41\\u0041\\07\\12\\400',
  '(a)(?:b)\\1',
  '(?=a)(?!b)(?<=c)(?<!d)',
  'a(?#no (parentheses)*',
  '(a{100}){200}',
  'a{255}'.repeat(42),
  '[a-z]{0,255}[0-9]{0,255}',
  '(a?){150}',
  '((a?){50}x){20}',
  '(\\w+\\s*){100}',
  '(((a*)+)?)+',
])('%s is taken', (expression) => {
  expect(expressionProblem(expression)).toBeUndefined();
});

test.each([
  ['(', 'parentheses are not balanced'],
  ['a)', 'parentheses are not balanced'],
  ['*', 'a quantifier follows nothing that it could repeat'],
  ['a**', 'a quantifier follows nothing that it could repeat'],
  ['a{2}{3}', 'a quantifier follows nothing that it could repeat'],
  ['a|+', 'a quantifier follows nothing that it could repeat'],
  ['^*', 'a quantifier follows nothing that it could repeat'],
  ['(?=a)*', 'a quantifier follows nothing that it could repeat'],
  ['(?>a)', 'a quantifier follows nothing that it could repeat'],
  ['a{3,1}', 'a count must be from 0 to 255, the second of two not below the first'],
  ['a{256}', 'a count must be from 0 to 255, the second of two not below the first'],
  ['a{2', 'braces are not balanced'],
  ['[a', 'brackets are not balanced'],
  ['[[:alpha:', 'brackets are not balanced'],
  ['[z-a]', 'a range of characters is not one'],
  ['[a-c-e]', 'a range of characters is not one'],
  ['[a-\\d]', 'a range of characters is not one'],
  ['[[:letter:]]', 'no such class of characters'],
  ['[[.hyphen.]]', 'no such element of a collation: one character stands for itself'],
  ['\\q', 'no such escape'],
  ['\\', 'no such escape'],
  ['\\u12', 'no such escape'],
  ['[\\m]', 'no such escape'],
  ['(a)\\2', 'a back reference leads to no group before it'],
  ['(a\\1)', 'a back reference leads to no group before it'],
  ['(a)(?=\\1)', 'a back reference leads to no group before it'],
])('%s is refused: %s', (expression, problem) => {
  expect(expressionProblem(expression)).toBe(problem);
});

test.each(['(?z)a', '(?b)a', '(?e)a', '(?i'])('%s has options that are not taken', (expression) => {
  expect(expressionProblem(expression)).toMatch(/^no such option/);
});

test.each([
  '(((((a{255}){255}){255}){255}){255})',
  '((((a?){255}){255}){255})',
  '(?:[a-z]{2,255}){200,}x',
  '((a|b){0,150}c{150}){250}',
  '(?i)([[:alpha:]]{255}){255}',
  '([]{]{255}){255}',
  '(\\({255}){255}',
  '(?=(a{255}){255})',
  '(?<!(a{255}){255})',
  '***:((a{255}){255})',
  `${'('.repeat(40)}a${'{9})'.repeat(40)}`,
  `${Array.from({ length: 100 }, (_, n) => String.fromCodePoint(0x100 + n)).join('')}(.{50}){50}`,
  '(a?){255}',
  '^(.?.?.?.?.?.?.?.?){1,200}x$',
  '((a?){2}){250}',
  '(a|){255}',
  '((a*b*c*d*){25}){5}',
])('%s is too large', (expression) => {
  expect(expressionProblem(expression)).toBe('counts repeat too much, or too many parts in a row may be left out');
});
