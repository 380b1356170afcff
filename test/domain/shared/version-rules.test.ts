import { compareVersions } from '../../../domain/shared/version-rules.ts';

test.each([
  ['1.2.3', '1.2.3', 0],
  ['1.2.3', '1.2.10', -1],
  ['1.10.0', '1.9.9', 1],
  ['1.2', '1.2.0', 0],
  ['v1.2.3', '1.2.3', 0],
  ['1.2.3-4', '1.2.3.4', 0],
  ['1.2.3+5', '1.2.3-4', 1],
  ['1.2.3', '1.2.3.1', -1],
  ['1.2.3-NEXT', '1.2.3-BETA', 1],
  ['nonsense', '0.0.1', -1],
  ['0.0.1', 'nonsense', 1],
  ['abc', 'abd', -1],
])('%p against %p: %p', (a, b, expected) => {
  expect(Math.sign(compareVersions(a, b))).toBe(expected);
});
