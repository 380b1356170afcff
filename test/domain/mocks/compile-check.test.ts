import { compileCheck } from '../../../domain/mocks/scenarios/compile-check.ts';
import { patternWork, withPatternWork } from '../../../domain/events/webhooks/pattern-work.ts';
import type { MockRequest } from '../../../domain/mocks/serving/mock-request.ts';
import { threadCpuMs } from '../../support/thread-cpu.ts';

const check = (jsonPath: string) => compileCheck({ of: 'body', is: { jsonPath } }, 'request/checks/0');
const called = (text: string) => ({ body: { text }, bytes: Buffer.from(text) }) as unknown as MockRequest;

test.each([
  `$${'[*,*]'.repeat(18)}`,
  '$..a..b',
  '$[?@..a]',
  '$[?match(@.a, "(a+)+")]',
  '$[?@.a][?@.b][?@.c]',
  '$[?$[*].a]',
  '$[?@==$]',
])('a path that may find the same value again and again is refused: %s', (path) => {
  expect(() => check(path)).toThrow();
});

test('a dollar sign in a text of a filter is none that queries from the root', () => {
  expect(check("$[?@.currency=='$']")(called('[{"currency":"$"}]'))).toBe(true);
});

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
  expect(check('$..*')(called(text))).toBe('TOO_LARGE');
});

const checkOf = (is: unknown) => compileCheck({ of: 'body', is }, 'request/checks/0');
const workOf = (judge: () => unknown): number => {
  const work = patternWork(1e12);
  work(judge);
  return work.used();
};

test('what tests read and search of a text uses the work of patterns', () => {
  const json = called(`[${'{},'.repeat(1_000)}{}]`);
  const xml = called(`<a>${'<b/>'.repeat(1_000)}</a>`);
  const text = called('a'.repeat(10_000));
  expect(workOf(() => checkOf({ contains: 'b' })(text))).toBeGreaterThan(5_000);
  expect(workOf(() => checkOf({ eq: 'B', ignoreCase: true })(text))).toBeGreaterThan(30_000);
  expect(workOf(() => checkOf({ json: [] })(json))).toBeGreaterThan(3_000);
  expect(workOf(() => checkOf({ xml: '<a/>' })(xml))).toBeGreaterThan(50_000);
  expect(workOf(() => check('$..a')(called(`[${'{},'.repeat(1_000)}{}]`)))).toBeGreaterThan(200_000);
  const elements = Array.from({ length: 500 }, (_, n) => n);
  const backwards = called(JSON.stringify(elements.toReversed()));
  expect(workOf(() => checkOf({ json: elements, anyOrder: true })(backwards))).toBeGreaterThan(100_000);
  expect(() => withPatternWork(1_000, () => checkOf({ contains: 'b' })(text))).toThrow(/patterns and tests/);
});

test('a text is read once for a request, however many tests ask for it', () => {
  const request = called(`<a>${'<b/>'.repeat(1_000)}</a>`);
  const once = workOf(() => checkOf({ xml: '<a/>' })(request));
  expect(workOf(() => checkOf({ any: [{ xml: '<a/>' }, { xml: '<b/>' }] })(request))).toBeLessThan(once / 100);
});

test('of a text that is too large for a test neither the test nor its opposite is true', () => {
  for (const [is, text] of [
    [{ matches: 'a*' }, 'a'.repeat(5_000)],
    [{ xml: '<a/>' }, `<a>${'a'.repeat(200_000)}</a>`],
    [{ json: [] }, `[${'1,'.repeat(20_000)}1]`],
  ] as const) {
    expect(checkOf(is)(called(text))).toBe('TOO_LARGE');
    expect(checkOf({ not: is })(called(text))).toBe('TOO_LARGE');
  }
});
