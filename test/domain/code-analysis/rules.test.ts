import { judge } from '../../../domain/code-analysis/gate-rules.ts';
import { lineHashes } from '../../../domain/code-analysis/line-hash-rules.ts';
import { pathReducer } from '../../../domain/code-analysis/sarif-path-rules.ts';
import {
  isSuppressed,
  levelOf,
  ruleFinder,
  type SarifResult,
  type SarifRun,
} from '../../../domain/code-analysis/sarif-rules.ts';
import { issuesTrend } from '../../../domain/code-analysis/trend-rules.ts';

test.each([
  ['', ['c129715d7a2bc9a3:1']],
  [' a\nb\n  \t\tc\n d', ['271789c17abda88f:1', '54703d4cd895b18:1', '180aee12dab6264:1', 'a23a3dc5e078b07b:1']],
  [' a\r\nb\r  \t\tc\r\n d', ['271789c17abda88f:1', '54703d4cd895b18:1', '180aee12dab6264:1', 'a23a3dc5e078b07b:1']],
  [
    'Lorem ipsum dolor sit amet.\n'.repeat(10),
    [
      ...[1, 2, 3, 4, 5, 6].map((count) => `a7f2ff13bc495cf2:${count}`),
      'a7f2ff1481e87703:1',
      'a9cf91f7bbf1862b:1',
      '55ec222b86bcae53:1',
      'cc97dc7b1d7d8f7b:1',
      'c129715d7a2bc9a3:1',
    ],
  ],
])('the hashes of the lines of %j are those that GitHub publishes', (text, hashes) => {
  expect(lineHashes(text)).toEqual(hashes);
});

const run: SarifRun = {
  tool: {
    driver: {
      name: 'lint',
      rules: [
        { id: 'A', defaultConfiguration: { level: 'note' } },
        { id: 'B', guid: '11111111-1111-4111-8111-111111111111' },
      ],
    },
    extensions: [{ name: 'plugin', rules: [{ id: 'X', defaultConfiguration: { level: 'error' } }] }],
  },
  invocations: [{ ruleConfigurationOverrides: [{ descriptor: { id: 'B' }, configuration: { level: 'error' } }] }],
};
const level = (result: Partial<SarifResult>) => {
  const whole = { message: { text: '' }, ...result };
  return levelOf(run, whole, ruleFinder(run)(whole));
};

test.each<[string, Partial<SarifResult>, string]>([
  ['another kind than fail', { ruleId: 'A', kind: 'pass', level: 'error' }, 'none'],
  ['its own level', { ruleId: 'A', level: 'error' }, 'error'],
  ['its rule, by index', { ruleIndex: 0 }, 'note'],
  ['its rule, by the index of a reference', { rule: { index: 0 } }, 'note'],
  ['its rule, by a part of its id', { ruleId: 'A/1/x' }, 'note'],
  ['its rule, by guid', { rule: { guid: '11111111-1111-4111-8111-111111111111' } }, 'error'],
  ['a rule of an extension', { rule: { index: 0, toolComponent: { index: 0 } } }, 'error'],
  ['a rule of an extension, by id', { ruleId: 'X' }, 'error'],
  ['what the invocation gave the rule', { ruleId: 'B' }, 'error'],
  ['nothing', { ruleId: 'unknown' }, 'warning'],
])('the level of a result follows from %s', (_, result, expected) => {
  expect(level(result)).toBe(expected);
});

test('a result is suppressed when all its suppressions are accepted', () => {
  const of = (...statuses: (string | undefined)[]) =>
    isSuppressed({
      message: {},
      suppressions: statuses.map((status) => (status === undefined ? {} : { status })),
    });
  expect([of(), of(undefined), of('accepted', 'accepted'), of('accepted', 'underReview'), of('rejected')]).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
});

test('paths are reduced to those of the repository', () => {
  const located: SarifRun = {
    ...run,
    originalUriBaseIds: { SRCROOT: { uri: 'file:///work/x/' }, LIB: { uri: 'lib/', uriBaseId: 'SRCROOT' } },
    artifacts: [{ location: { uri: 'src/b%20c.ts', uriBaseId: 'SRCROOT' } }],
  };
  const pathOf = pathReducer(located, 'acme/storefront');
  expect(
    [
      { uri: 'src/a.ts' },
      { uri: 'a.ts', uriBaseId: 'LIB' },
      { uri: 'file:///work/x/src/a.ts' },
      { uri: '/home/runner/work/storefront/storefront/src/a.ts' },
      { uri: 'C:\\agent\\storefront\\src\\a.ts' },
      { uri: '../x/./src/../a.ts', uriBaseId: 'SRCROOT' },
      { index: 0 },
      undefined,
    ].map(pathOf),
  ).toEqual(['src/a.ts', 'lib/a.ts', 'src/a.ts', 'src/a.ts', 'src/a.ts', 'a.ts', 'src/b c.ts', '']);
});

test('the trend compares means exactly', () => {
  expect(issuesTrend([9, 1, 1])).toBe('stable');
  expect(issuesTrend([1, 1, 2, 1])).toBe('up');
  expect(issuesTrend([1, 1, 1, 1, 1, 1, 100])).toBe('stable');
  expect(issuesTrend([0, 1, 1, 1, 1, 1])).toBe('down');
});

test('a quality gate names each limit that is exceeded', () => {
  const counts = { errors: 3, newErrors: 1, newWarnings: 0 };
  expect(judge(undefined, counts)).toEqual({ status: 'none', reasons: [] });
  expect(judge({ maxErrors: 3, maxNewWarnings: 0 }, counts)).toEqual({ status: 'passed', reasons: [] });
  expect(judge({ maxErrors: 2, maxNewErrors: 0 }, counts)).toEqual({
    status: 'failed',
    reasons: ['3 errors, at most 2 allowed', '1 new errors, at most 0 allowed'],
  });
});
