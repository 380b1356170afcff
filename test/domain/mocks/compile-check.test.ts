import { compileCheck } from '../../../domain/mocks/compile-check.ts';
import type { MockRequest } from '../../../domain/mocks/mock-request.ts';
import { threadCpuMs } from '../../support/thread-cpu.ts';

const check = (jsonPath: string) => compileCheck({ of: 'body', is: { jsonPath } }, 'request/checks/0');
const called = (text: string) => ({ body: { text }, bytes: Buffer.from(text) }) as unknown as MockRequest;

test.each([`$${'[*,*]'.repeat(18)}`, '$..a..b', '$[?@..a]', '$[?match(@.a, "(a+)+")]', '$[?@.a][?@.b][?@.c]'])(
  'a path that may find the same value again and again is refused: %s',
  (path) => {
    expect(() => check(path)).toThrow();
  },
);

test('the longest path that is taken needs no time for the deepest text', () => {
  const text = `${'['.repeat(60)}1${']'.repeat(60)}`;
  for (const path of [
    `$[*,*][*,*][*,*]${'[*]'.repeat(57)}`,
    `$..${'[*]'.repeat(90)}`,
    `$[?@[*,*][*,*][*]]${'[*]'.repeat(50)}`,
  ])
    expect(threadCpuMs(() => void check(path)(called(text)))).toBeLessThan(200);
});

test('a text with more levels than a path descends is not judged, and fails nothing', () => {
  const text = `${'['.repeat(1_000)}1${']'.repeat(1_000)}`;
  expect(check('$..*')(called(text))).toBe(false);
});
