import { weaknessOf } from '../../../../domain/identity/passwords/password-rules.ts';

const isCommon = (text: string) => ['password', 'qwerty123456', 'letmein'].includes(text);
const judge = (password: string) => weaknessOf(password, { isCommon, email: 'dana.reyes@example.com' });

test.each([
  'correct horse battery',
  'x7#kQ2!mPz9w',
  'пароль-из-двенадцати',
  '🐳🐙🦑🐚🦀🐠🐡🐬🐳🐙🦑🐚',
  'password of my dog',
])('%s is taken', (password) => {
  expect(judge(password)).toBeUndefined();
});

test.each([
  ['short', 'at least 12'],
  ['elevenchars', 'at least 12'],
  ['🐳🐙🦑🐚🦀🐠', 'at least 12'],
  ['abcdefg'.repeat(147), 'at most 1024'],
  ['aaaaaaaaaaaa', 'too few'],
  ['121212121212', 'too few'],
  ['qwerty123456', 'common password'],
  ['QWERTY123456', 'common password'],
  ['Password1234!', 'common password'],
  ['2024-password-2024', 'common password'],
  ['passwordpassword', 'common password'],
  ['letmeinletmein!', 'common password'],
  ['dana.reyes@example.com', 'e-mail'],
  ['Dana.Reyes1234', 'e-mail'],
])('%s is refused', (password, words) => {
  expect(judge(password)).toContain(words);
});
