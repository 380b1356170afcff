import { isSameCommit } from '../../../../domain/code/git/commit-id-rules.ts';

const FULL = 'ab12cd34'.repeat(5);

test.each([
  [FULL, FULL, true],
  [FULL, FULL.slice(0, 7), true],
  [FULL.slice(0, 12), FULL, true],
  [FULL, FULL.slice(0, 6), false],
  [FULL, 'ab12cd35', false],
  [FULL.slice(0, 8), FULL.slice(0, 7), true],
  ['', FULL, false],
  ['version-1', 'version-12', false],
])('%s and %s: the same commit %s', (one, other, isSame) => {
  expect(isSameCommit(one, other)).toBe(isSame);
  expect(isSameCommit(other, one)).toBe(isSame);
});
