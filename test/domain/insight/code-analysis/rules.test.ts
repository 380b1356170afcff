import {
  boundsOf,
  type Gate,
  judge,
  statusOfGate,
} from '../../../../domain/insight/code-analysis/comparisons/gate-rules.ts';
import type { QualityGate } from '../../../../domain/projects/policies/quality-gate-rules.ts';
import type { CutSides } from '../../../../domain/insight/code-analysis/sarif/cut-rules.ts';
import { lineHashes } from '../../../../domain/insight/code-analysis/sarif/line-hash-rules.ts';
import { pathReducer } from '../../../../domain/insight/code-analysis/sarif/sarif-path-rules.ts';
import { RuleLookup } from '../../../../domain/insight/code-analysis/rule-lookup-rules.ts';
import {
  isSuppressed,
  messageOf,
  type SarifResult,
  type SarifRun,
} from '../../../../domain/insight/code-analysis/sarif/sarif-rules.ts';
import { slimResult } from '../../../../domain/insight/code-analysis/sarif/slim-result-rules.ts';
import { issuesOf, SummaryTally } from '../../../../domain/insight/code-analysis/summary-rules.ts';
import { issuesTrend } from '../../../../domain/insight/code-analysis/comparisons/trend-rules.ts';

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
  const rules = new RuleLookup(run);
  return rules.levelOf(whole, rules.ruleOf(whole));
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
  [
    'what the only invocation gave it, which -1 leaves open',
    { ruleId: 'B', provenance: { invocationIndex: -1 } },
    'error',
  ],
  [
    'its rule, where it names no invocation that there is',
    { ruleId: 'B', provenance: { invocationIndex: 7 } },
    'warning',
  ],
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
  const sides = { base: {}, head: {} };
  const counts = boundsOf({ errors: 3, newErrors: 1, newWarnings: 0, wholeNewErrors: 1, wholeNewWarnings: 0 }, sides);
  expect(judge(undefined, counts, sides)).toEqual({ status: 'none', reasons: [] });
  expect(judge({ maxErrors: 3, maxNewWarnings: 0 }, counts, sides)).toEqual({ status: 'passed', reasons: [] });
  expect(judge({ maxErrors: 2, maxNewErrors: 0 }, counts, sides)).toEqual({
    status: 'failed',
    reasons: ['3 errors, at most 2 allowed', '1 new errors, at most 0 allowed'],
  });
});

const cut = { cutTools: [{ tool: 'lint', kept: 3, found: 5 }] };
const WHY_HEAD = 'Not all issues are known: of 5 issues that lint found in the newer analysis the first 3 are kept';
const WHY_BASE = 'Not all issues are known: of 5 issues that lint found in the older one the first 3 are kept';

test.each<[string, CutSides, QualityGate, Gate['status'], string[]]>([
  [
    'a head, certainly exceeded',
    { base: {}, head: cut },
    { maxNewErrors: 2 },
    'failed',
    ['3 to 5 new errors, at most 2 allowed'],
  ],
  [
    'a head, perhaps exceeded',
    { base: {}, head: cut },
    { maxNewErrors: 4 },
    'unknown',
    ['3 to 5 new errors, at most 4 allowed', WHY_HEAD],
  ],
  ['a head, certainly kept to', { base: {}, head: cut }, { maxNewErrors: 5, maxErrors: 6 }, 'passed', []],
  [
    'a head, of all errors',
    { base: {}, head: cut },
    { maxErrors: 5 },
    'unknown',
    ['4 to 6 errors, at most 5 allowed', WHY_HEAD],
  ],
  [
    'a base: those that only look new',
    { base: cut, head: {} },
    { maxNewErrors: 1 },
    'unknown',
    ['1 to 3 new errors, at most 1 allowed', WHY_BASE],
  ],
  [
    'a base: more than it can have had',
    { base: cut, head: {} },
    { maxNewErrors: 0 },
    'failed',
    ['1 to 3 new errors, at most 0 allowed'],
  ],
  [
    'a base: those of a whole tool',
    { base: cut, head: {} },
    { maxNewWarnings: 1 },
    'failed',
    ['2 new warnings, at most 1 allowed'],
  ],
  ['a base, of all errors', { base: cut, head: {} }, { maxErrors: 4 }, 'passed', []],
  ['the first run', { head: cut }, { maxNewErrors: 3 }, 'passed', []],
  ['any, without a gate', { base: cut, head: cut }, {}, 'none', []],
])('a quality gate says only what is certain of cut results: %s', (_, sides, gate, status, reasons) => {
  const kept = { errors: 4, newErrors: 3, newWarnings: 2, wholeNewErrors: 0, wholeNewWarnings: 2 };
  expect(judge(gate, boundsOf(kept, sides), sides)).toEqual({ status, reasons });
});

test('the commit status of a gate is no success when it is not known, and names no cut number as exact', () => {
  expect(statusOfGate({ status: 'unknown', reasons: ['a', 'b'] }, { totalIssues: 3, ...cut })).toEqual({
    state: 'error',
    description: 'Unknown: a; b',
  });
  expect(statusOfGate({ status: 'passed', reasons: [] }, { totalIssues: 3, ...cut }).description).toBe(
    'At least 3 issues',
  );
  expect(statusOfGate({ status: 'passed', reasons: [] }, { totalIssues: 3 }).description).toBe('3 issues');
});

test.each([
  [5, [{ tool: 'lint', kept: 1, found: 5 }]],
  [1, undefined],
  [0, undefined],
  ['5', undefined],
  [1e300, [{ tool: 'lint', kept: 1, found: 2 ** 31 - 1 }]],
])('a run that says that it had %p results is cut when it has fewer', (found, cutTools) => {
  const tally = new SummaryTally();
  const said = { ...run, properties: { 'quayside/resultsFound': found } };
  const steps = tally.steps(said, issuesOf(said, [{ message: { text: 'x' } }], 'acme/shop'));
  expect([...steps]).toEqual([]);
  expect(tally.summary.cutTools).toEqual(cutTools);
});

test('an override may name its rule by guid', () => {
  const guid = '22222222-2222-4222-8222-222222222222';
  const overriding: SarifRun = {
    tool: { driver: { name: 'lint', rules: [{ id: 'A' }, { id: 'B', guid }] } },
    invocations: [
      { ruleConfigurationOverrides: [{ descriptor: { guid: guid.toUpperCase() }, configuration: { level: 'note' } }] },
    ],
  };
  const rules = new RuleLookup(overriding);
  const levels = ['A', 'B']
    .map((ruleId) => ({ message: {}, ruleId }))
    .map((each) => rules.levelOf(each, rules.ruleOf(each)));
  expect(levels).toEqual(['warning', 'note']);
});

test('a message has its arguments, and ends where nobody reads on', () => {
  const of = (message: SarifResult['message']) => messageOf({ message }, undefined);
  expect(of({ text: 'a {{0}} {0} {1} {7}', arguments: ['x', 'y'] })).toBe('a {0} x y {7}');
  expect(of({ text: '{0}'.repeat(1_000), arguments: ['y'.repeat(600_000)] })).toBe('y'.repeat(2_000));
  expect(of({ text: `${'z'.repeat(1_999)}{0}`, arguments: ['abc'] })).toHaveLength(2_000);
});

test('of a result what is used is kept, of long texts the beginning', () => {
  const result: SarifResult = {
    message: { text: 'x'.repeat(100_000), arguments: Array.from({ length: 500 }, () => 'y'.repeat(3_000)) },
    ruleId: 'r'.repeat(5_000),
    locations: [{ physicalLocation: { artifactLocation: { uri: 'u'.repeat(9_000) }, region: { startLine: 3 } } }],
    suppressions: [{}, { status: 'rejected' }, ...Array.from({ length: 1_000 }, () => ({}))],
  };
  const slim = slimResult(result, { keepsMessages: true });
  expect(slim.message.text).toHaveLength(4_000);
  expect(slim.message.arguments).toHaveLength(100);
  expect(slim.ruleId).toHaveLength(1_000);
  expect(slim.suppressions).toEqual([{ status: 'rejected' }]);
  expect(slimResult(result, { keepsMessages: false }).message).toEqual({});
  const [issue] = issuesOf(run, [slim], 'acme/storefront');
  expect(issue).toMatchObject({ path: '', startLine: 3, isSuppressed: false });
});

const MANY = 25_000;
const numbered = (count: number) => Array.from({ length: count }, (_, place) => place);
const guidOf = (place: number) => `00000000-0000-4000-8000-${place.toString(16).padStart(12, '0')}`;
const located = (uri: string) => [{ physicalLocation: { artifactLocation: { uri } } }];

test.each<[string, SarifRun, (place: number) => Partial<SarifResult>]>([
  ['ids of thousands of levels', run, () => ({ ruleId: 'a/'.repeat(20_000) })],
  [
    'rules that are named by guid',
    {
      tool: {
        driver: { name: 'lint', rules: numbered(MANY).map((place) => ({ id: `R${place}`, guid: guidOf(place) })) },
      },
    },
    (place) => ({ rule: { guid: guidOf(MANY - place) } }),
  ],
  [
    'overrides by an invocation',
    {
      tool: { driver: { name: 'lint', rules: numbered(MANY).map((place) => ({ id: `R${place}` })) } },
      invocations: [
        {
          ruleConfigurationOverrides: numbered(MANY).map((place) => ({
            descriptor: { id: `R${place}` },
            configuration: { level: 'note' as const },
          })),
        },
      ],
    },
    (place) => ({ ruleId: `R${MANY - 1 - place}` }),
  ],
  [
    'components that are named',
    {
      tool: {
        driver: { name: 'lint' },
        extensions: numbered(100).map((place) => ({ name: `plugin-${place}`, rules: [{ id: 'R' }] })),
      },
    },
    () => ({ rule: { id: 'R/1/2/3/4/5/6/7/8/9', toolComponent: { name: 'plugin-99' } } }),
  ],
  [
    'folders that may be the root',
    {
      ...run,
      invocations: numbered(5_000).map((place) => ({ workingDirectory: { uri: `file:///work/${place}/` } })),
    },
    (place) => ({ locations: located(`file:///elsewhere/${place}`) }),
  ],
  [
    'a rule with a long name and a message without end',
    {
      tool: {
        driver: {
          name: 'n'.repeat(1_000_000),
          rules: [
            {
              id: 'r'.repeat(5_000_000),
              name: 'm'.repeat(5_000_000),
              messageStrings: { m: { text: '{0}'.repeat(1_000_000) } },
            },
          ],
        },
      },
    },
    () => ({ ruleIndex: 0, message: { id: 'm', arguments: [''] } }),
  ],
])('the issues of a run with %s take a time in proportion', (_, given, resultOf) => {
  const results = numbered(MANY).map((place) =>
    slimResult({ message: {}, ...resultOf(place) }, { keepsMessages: true }),
  );
  const before = process.threadCpuUsage();
  let issues = 0;
  for (const issue of issuesOf(given, results, 'acme/storefront')) issues += issue.level === 'none' ? 0 : 1;
  const { user, system } = process.threadCpuUsage(before);
  expect(issues).toBe(MANY);
  expect((user + system) / 1_000).toBeLessThan(15_000);
});
