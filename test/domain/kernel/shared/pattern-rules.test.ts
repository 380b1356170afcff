import { matchesPattern } from '../../../../domain/kernel/text/pattern-rules.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';

test.each([
  ['main', 'main', true],
  ['main', 'maintenance', false],
  ['*', 'main', true],
  ['*', 'release/1', false],
  ['**', 'release/1/2', true],
  ['release/*', 'release/1', true],
  ['release/*', 'release/1/2', false],
  ['release/**', 'release/1/2', true],
  ['*/hotfix', 'a/hotfix', true],
  ['a.c', 'abc', false],
  ['[ab]', 'a', false],
  ['*-fix-*', 'a-fix-b', true],
  ['', '', true],
  ['', 'a', false],
  ['ü*', 'über', true],
])('%p against %p: %p', (pattern, name, expected) => {
  expect(matchesPattern(pattern, name)).toBe(expected);
});

test('a pattern made to be slow is not', () => {
  const cpuMs = threadCpuMs(() => expect(matchesPattern('*a'.repeat(100), `${'a'.repeat(250)}b`)).toBe(false));
  expect(cpuMs).toBeLessThan(1_000);
});

test('hundreds of such patterns are not slow together', () => {
  const cpuMs = threadCpuMs(() => {
    for (let n = 0; n < 600; n++) expect(matchesPattern('*a'.repeat(127), `${'a'.repeat(254)}b`)).toBe(false);
  });
  expect(cpuMs).toBeLessThan(1_000);
});
