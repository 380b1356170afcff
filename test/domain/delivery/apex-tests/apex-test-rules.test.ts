import {
  lockedMethods,
  mayBeOf,
  percentCovered,
  type TestResult,
  testOrderOf,
  testResultOf,
  testRunStateOf,
  whyGivenUp,
  whyNoTests,
} from '../../../../domain/delivery/apex-tests/apex-test-rules.ts';
import { type Failure, gatesOf, outcomeOfTests } from '../../../../domain/delivery/apex-tests/test-outcome-rules.ts';
import { junitCase, junitHead } from '../../../../domain/delivery/apex-tests/junit-rules.ts';

const result = (more: Partial<TestResult> = {}): TestResult => ({
  className: 'InvoiceTest',
  method: 'adds',
  outcome: 'Pass',
  message: null,
  stackTrace: null,
  timeMs: 1_500,
  isRepeated: false,
  ...more,
});

const failure = (more: Partial<Failure> = {}): Failure => ({
  ...result({ outcome: 'Fail', message: 'no' }),
  isKnown: false,
  isFlaky: false,
  ...more,
});

test('a payload asks for what it names, else for the tests of the org', () => {
  expect(testOrderOf({})).toMatchObject({ testLevel: 'RunLocalTests', classNames: [] });
  expect(testOrderOf({ suites: ['Smoke'] })).toMatchObject({ testLevel: 'RunSpecifiedTests', suiteNames: ['Smoke'] });
  expect(whyNoTests({ testLevel: 'RunAllTestsInOrg' })).toBeNull();
  expect(whyNoTests({ testLevel: 'RunAllTestsInOrg', classNames: ['A'] })).toContain('neither');
  expect(whyNoTests({ changedClassesOnly: true })).toContain('name repositoryIdentifier');
  expect(whyNoTests({ since: 'main' })).toContain('name repositoryIdentifier');
  expect(whyNoTests({ changedClassesOnly: true, repositoryIdentifier: 'a/b', suites: ['A'] })).toContain(
    'leave suites',
  );
  expect(whyNoTests({ since: 'main', repositoryIdentifier: 'a/b', suites: ['A'] })).toBeNull();
});

test('classes of packages have their namespace before them, and texts end somewhere', () => {
  const row = {
    MethodName: 'adds',
    Outcome: 'Fail',
    Message: 'x'.repeat(10_000),
    RunTime: 7,
    ApexClass: { Name: 'InvoiceTest', NamespacePrefix: 'ns' },
  };
  const found = testResultOf(row, { isRepeated: false });
  expect(found).toMatchObject({ className: 'ns.InvoiceTest', method: 'adds', outcome: 'Fail', timeMs: 7 });
  expect(found.message).toHaveLength(4_000);
});

test('a status that is not known ends a run', () => {
  expect(testRunStateOf({ Status: 'Processing' }).isDone).toBe(false);
  expect(testRunStateOf({}).isDone).toBe(false);
  expect(testRunStateOf({ Status: 'Something', MethodsEnqueued: 3 })).toMatchObject({ isDone: true, enqueued: 3 });
});

test('only what failed for a lock, and the first time, is run again', () => {
  const locked = { outcome: 'Fail', message: 'UNABLE_TO_LOCK_ROW' };
  expect(
    lockedMethods([
      result(locked),
      result({ ...locked, method: 'rounds' }),
      result({ ...locked, className: 'Other', isRepeated: true }),
      result({ outcome: 'Fail', message: 'Assertion Failed', className: 'Third' }),
      result(),
    ]),
  ).toEqual([{ className: 'InvoiceTest', methods: ['adds', 'rounds'] }]);
});

describe('a run of tests is a success', () => {
  const counts = { total: 2, passed: 2, failed: 0, skipped: 0, timeMs: 10 };
  const run = { status: 'Completed', enqueued: 2 };
  const all = { lines: 0, uncovered: 0 };

  test('where all ran and passed', () => {
    expect(outcomeOfTests({}, { run, counts, failures: [], coverage: all, changed: null })).toMatchObject({
      status: 'succeeded',
      result: { coveragePercent: null },
    });
  });

  test.each([
    [
      'a method failed',
      {},
      run,
      { ...counts, passed: 1, failed: 1 },
      '1 of 2 test methods failed: InvoiceTest.adds: no',
    ],
    ['they were aborted', {}, { ...run, status: 'Aborted' }, counts, 'aborted'],
    ['none ran', {}, run, { ...counts, total: 0, passed: 0 }, 'No test ran'],
    ['some left no result', {}, { ...run, enqueued: 5 }, counts, '3 of 5'],
    ['the org says that it failed', {}, { ...run, status: 'Failed' }, counts, 'not which'],
    ['nothing is covered, and something is asked for', { minCoverage: 1 }, run, counts, '0 %'],
  ])('not where %s', (_, payload, state, counted, error) => {
    const failures = counted.failed > 0 ? [failure()] : [];
    const facts = { run: state, counts: counted, failures, coverage: all, changed: null };
    expect(outcomeOfTests(payload, facts)).toMatchObject({ status: 'failed', error: expect.stringContaining(error) });
  });

  const failed = { ...counts, passed: 1, failed: 1 };
  const isNew = { noNewFailures: true };
  test.each<[string, object, Partial<Failure>, string | null]>([
    ['failed before', isNew, { isKnown: true }, null],
    ['did not fail before', isNew, { isKnown: false }, '1 of 2 test methods failed'],
    ['failed where nothing is known of before', isNew, { isKnown: null }, 'all count as new'],
    ['failed before, and nobody asked', {}, { isKnown: true }, '1 of 2 test methods failed'],
    ['is flaky', { ignoreFlaky: true }, { isFlaky: true }, null],
    ['is flaky, and nobody asked', {}, { isFlaky: true }, '1 of 2 test methods failed'],
    ['is flaky, and does not compile', { ignoreFlaky: true }, { isFlaky: true, outcome: 'CompileFail' }, '1 of 2'],
  ])('a method that %s', (_, gates, more, error) => {
    const facts = {
      run: { ...run, status: 'Failed' },
      counts: failed,
      failures: [failure(more)],
      coverage: all,
      changed: null,
    };
    expect(outcomeOfTests(gates, facts).error ?? null).toEqual(error === null ? null : expect.stringContaining(error));
  });

  test('failures beyond those that are read count', () => {
    const facts = {
      run,
      counts: { ...counts, failed: 2 },
      failures: [failure({ isKnown: true })],
      coverage: all,
      changed: null,
    };
    expect(outcomeOfTests(isNew, facts)).toMatchObject({ status: 'failed', error: expect.stringContaining('1 more') });
  });

  test.each([
    [
      'half of it',
      { changedLines: 4, changedCovered: 2, changedUnknown: 0 },
      '50 % of the lines that changed (2 of 4)',
    ],
    ['enough of it', { changedLines: 4, changedCovered: 3, changedUnknown: 0 }, null],
    ['lines that cannot be covered', { changedLines: 0, changedCovered: 0, changedUnknown: 0 }, null],
    [
      'what is partly not known',
      { changedLines: 4, changedCovered: 4, changedUnknown: 1 },
      'is not of 1 of the classes',
    ],
    ['what is not known', 'No commit', 'No commit'],
  ])('where tests cover, of what changed, %s', (_, changed, error) => {
    const facts = { run, counts, failures: [], coverage: all, changed };
    const outcome = outcomeOfTests({ minChangedCoverage: 60 }, facts);
    expect(outcome.error ?? null).toEqual(error === null ? null : expect.stringContaining(error));
  });

  test('the gates of a payload go before those of its project', () => {
    expect(gatesOf({ minCoverage: 0, noNewFailures: false }, { minCoverage: 75, ignoreFlaky: true })).toEqual({
      minCoverage: 0,
      noNewFailures: false,
      ignoreFlaky: true,
    });
  });
});

test('coverage is in percent with one decimal', () => {
  expect(percentCovered({ lines: 3, uncovered: 1 })).toBe(66.7);
  expect(percentCovered({ lines: 0, uncovered: 0 })).toBeNull();
});

test('a report escapes what tests say', () => {
  expect(junitHead({ total: 1, passed: 0, failed: 1, skipped: 0, timeMs: 1_500 }, '2026-11-28T00:00:00Z')).toContain(
    'tests="1" failures="1" errors="0" skipped="0" time="1.500"',
  );
  expect(junitCase(result({ outcome: 'Fail', message: 'a "b" <c>\u0000', stackTrace: 'x & ]]> y' }))).toBe(
    '<testcase name="adds" classname="InvoiceTest" time="1.500"><failure message="a &quot;b&quot; &lt;c&gt;\ufffd">x &amp; ]]&gt; y</failure></testcase>\n',
  );
  expect(junitCase(result({ outcome: 'Skip' }))).toContain('<skipped/>');
});

test.each([
  ['', 1.1, 'shows no run'],
  ['', 0.9, null],
  ['Queued', 23, null],
  ['Queued', 25, null],
  ['Processing', 25, null],
])('tests that are "%s" after %d hours: %s', (status, hours, why) => {
  const given = whyGivenUp({ status }, hours * 3_600_000);
  if (why === null) expect(given).toBeNull();
  else expect(given).toContain(why);
});

test.each([
  [{ classNames: ['InvoiceTest'] }, ['invoicetest'], true],
  [{ classNames: ['InvoiceTest'] }, ['OrderTest'], false],
  [{ classNames: ['InvoiceTest'], suites: ['Smoke'] }, ['OrderTest'], true],
  [{}, ['OrderTest'], true],
  [{ classNames: ['ns.InvoiceTest'] }, ['InvoiceTest'], true],
])('whether a run of tests may be that of %j: %j', (payload, classes, is) => {
  expect(mayBeOf(testOrderOf(payload), classes)).toBe(is);
});
