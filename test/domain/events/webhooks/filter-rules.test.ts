import { compileFilter, FilterError, type WebhookFilter } from '../../../../domain/events/webhooks/filter-rules.ts';
import { compileLinearRegex } from '../../../../domain/events/webhooks/linear-regex.ts';
import {
  PatternShareError,
  PatternShares,
  PatternWorkError,
  patternWork,
  withPatternWork,
} from '../../../../domain/events/webhooks/pattern-work.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';

const envelope = {
  id: '1',
  type: 'release.published',
  data: {
    name: 'sales',
    count: 3,
    tags: ['a', 'b'],
    nothing: null,
    nested: { 'a.b': 1, list: [{ x: 1 }] },
    emoji: '\u{1F600}',
  },
};
const holds = (filter: WebhookFilter) => compileFilter(filter, compileLinearRegex)(envelope);

test.each<[WebhookFilter, boolean]>([
  [{}, true],
  [{ type: 'release.published' }, true],
  [{ 'data.name': 'sales', 'data.count': 3 }, true],
  [{ 'data.name': 'sales', 'data.count': 4 }, false],
  [{ 'data.name': ['service', 'sales'] }, true],
  [{ 'data.name': [] }, false],
  [{ 'data.nothing': null }, true],
  [{ 'data.missing': null }, false],
  [{ 'data.missing': { ne: 1 } }, true],
  [{ 'data.missing': { nin: [1] } }, true],
  [{ 'data.missing': { in: [null] } }, false],
  [{ 'data.count': { gt: 2, lt: 4 } }, true],
  [{ 'data.count': { gte: 3, lte: 3 } }, true],
  [{ 'data.count': { gt: '2' } }, false],
  [{ 'data.name': { gt: 'sale' } }, true],
  [{ 'data.emoji': { gt: '\uFF5E' } }, true],
  [{ 'data.tags.1': 'b' }, true],
  [{ 'data.tags.2': { ne: 'c' } }, true],
  [{ 'data.tags': { eq: ['a', 'b'] } }, true],
  [{ 'data.nested.list': { eq: [{ x: 1 }] } }, true],
  [{ 'data.nested.a\\.b': 1 }, true],
  [{ 'data.nested.list.0.x': { in: [1, 2] } }, true],
  [{ 'data.name': { regex: '^sa.*s$' } }, true],
  [{ 'data.count': { regex: '3' } }, false],
  [{ 'data.constructor': { ne: null } }, true],
  [{ 'data.name.length': 5 }, false],
])('%j: %p', (filter, expected) => {
  expect(holds(filter)).toBe(expected);
});

test.each<WebhookFilter>([
  { 'data..x': 1 },
  { '': 1 },
  { 'a\\x': 1 },
  { a: {} },
  { a: { like: 'x' } },
  { a: { in: 'x' } },
  { a: { in: Array.from({ length: 101 }, () => 1) } },
  { a: { gt: null } },
  { a: { regex: '(' } },
  { a: { regex: '(?=x)' } },
  { a: { regex: 'x'.repeat(257) } },
  { a: { regex: '((a{30}){30}){2}b{1000}' } },
  { a: { regex: 5 } },
  Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, 1])),
])('refused: %j', (filter) => {
  expect(() => compileFilter(filter, compileLinearRegex)).toThrow(FilterError);
});

test('patterns may use so much work together, and what is cut says so', () => {
  const costly = compileFilter({ a: { regex: '(a?){480}[^a]' }, b: { regex: 'b' } }, compileLinearRegex);
  const event = { a: 'a'.repeat(4_096), b: 'b' };
  const cpuMs = threadCpuMs(() =>
    expect(() => withPatternWork(2_000_000, () => costly(event))).toThrow(PatternWorkError),
  );
  expect(cpuMs).toBeLessThan(50);
  const cheap = compileFilter({ b: { regex: 'b' } }, compileLinearRegex);
  const shared = patternWork(100);
  const asked = () => shared(() => cheap({ b: 'x'.repeat(10) }));
  expect(asked()).toBe(false);
  expect(() => {
    for (let count = 0; count < 10; count++) asked();
  }).toThrow(PatternWorkError);
  expect(cheap(event)).toBe(true);
  // What is used within another counts there, too.
  const outer = patternWork(100);
  expect(() => {
    for (let count = 0; count < 10; count++) outer(() => withPatternWork(90, () => cheap({ b: 'x'.repeat(10) })));
  }).toThrow(PatternWorkError);
});

test('the patterns of one tenant have a share of a process, and an evaluation is cut by itself alone', () => {
  let now = 0;
  const shares = new PatternShares(() => now);
  const costly = compileFilter({ a: { regex: '(a?){110}[^a]' } }, compileLinearRegex);
  const event = { a: 'a'.repeat(4_096) };
  const once = (tenantId: string, max = 2_000_000) => shares.evaluate(tenantId, max, () => costly(event));
  let count = 0;
  const useAll = (tenantId: string) => {
    try {
      for (;;) {
        expect(once(tenantId)).toBe(false);
        count++;
      }
    } catch (error) {
      return error as PatternShareError;
    }
  };
  const refusal = useAll('a');
  expect(refusal).toBeInstanceOf(PatternShareError);
  expect(count).toBeGreaterThan(1);
  expect(once('b')).toBe(false);
  now = refusal.retryInMs;
  expect(once('a')).toBe(false);
  expect(() => once('a')).toThrow(PatternShareError);
  expect(() => once('b', 1_000)).toThrow('shorten them');
});

test('a pattern that makes backtracking engines hang takes no time', () => {
  const test = compileFilter({ 'data.text': { regex: '^(a+)+$' } }, compileLinearRegex);
  const cpuMs = threadCpuMs(() => expect(test({ data: { text: `${'a'.repeat(4_000)}!` } })).toBe(false));
  expect(cpuMs).toBeLessThan(500);
});
