import type { TestGates } from '../../projects/policies/test-gate-rules.ts';
import { cut } from '../../orgs/crm/platform-error-rules.ts';
import { adviceFor } from '../org-deployments/platform-advice-rules.ts';
import { percentCovered, type ResultCounts, type TestResult, type TestRunState } from './apex-test-rules.ts';

/** The gates of a run: those of its payload, else those of its project. */
export const gatesOf = (payload: Readonly<Record<string, unknown>>, project: TestGates = {}): TestGates => {
  const { minCoverage, minChangedCoverage, noNewFailures, ignoreFlaky } = payload as TestGates;
  const own = { minCoverage, minChangedCoverage, noNewFailures, ignoreFlaky };
  return { ...project, ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) };
};

/** Whether what a run must come to depends on what changed. */
export const lookAtChanges = ({ minChangedCoverage, noNewFailures }: TestGates): boolean =>
  minChangedCoverage !== undefined || noNewFailures === true;

/** A method that failed, and what runs before say of it. */
export interface Failure extends TestResult {
  /** It failed with what the org ran before, too; null: that is not known. */
  isKnown: boolean | null;
  /** It was flaky before this run. */
  isFlaky: boolean;
}

/** Lines that changed, of those classes of which it is known. */
export interface ChangedSum {
  changedLines: number;
  changedCovered: number;
  /** Classes that changed, and of which it is not known. */
  changedUnknown: number;
}

/** What a run of tests came to. */
export interface TestFacts {
  run: Pick<TestRunState, 'status' | 'enqueued'>;
  /** What changed concerns no test. */
  isNothingToRun?: boolean;
  counts: ResultCounts;
  /** Methods that failed, as far as they are read. */
  failures: readonly Failure[];
  coverage: { lines: number; uncovered: number };
  /** What lines changed; else why it is not known; null: nobody asked. */
  changed: ChangedSum | string | null;
}

export interface TestOutcome {
  status: 'succeeded' | 'failed';
  error?: string;
  result: Record<string, unknown>;
}

const FAILURES_SHOWN = 100;

/** How a run of tests ended: only where all that was to run ran, and passed or may fail by its gates, is it a success. */
export function outcomeOfTests(gates: TestGates, facts: TestFacts): TestOutcome {
  const { counts, failures, coverage, changed } = facts;
  const result = {
    tests: counts,
    coveragePercent: percentCovered(coverage),
    ...(changed !== null && shownChanges(changed)),
    ...(gates.noNewFailures === true && { newFailures: countsOfNew(facts) }),
    ...(gates.ignoreFlaky === true && {
      flakyIgnored: failures.filter(isIgnored).map(nameOf).slice(0, FAILURES_SHOWN),
    }),
    gates,
    failures: failures.slice(0, FAILURES_SHOWN).map((failure) => ({
      test: nameOf(failure),
      message: failure.message,
      advice: adviceFor(failure.message ?? ''),
      isNew: failure.isKnown === null ? null : !failure.isKnown,
      isFlaky: failure.isFlaky,
    })),
  };
  const error = whyFailed(gates, facts);
  return error === null ? { status: 'succeeded', result } : { status: 'failed', error, result };
}

const nameOf = ({ className, method }: TestResult): string => `${className}.${method}`;
const isIgnored = ({ isFlaky, outcome }: Failure): boolean => isFlaky && outcome === 'Fail';
const percentOf = ({ changedLines, changedCovered }: ChangedSum) =>
  percentCovered({ lines: changedLines, uncovered: changedLines - changedCovered });

function shownChanges(changed: ChangedSum | string) {
  if (typeof changed === 'string') return { changedLines: null, changedLinesUnknown: changed };
  const { changedLines: total, changedCovered: covered, changedUnknown } = changed;
  return {
    changedLines: { covered, total, percent: changedUnknown > 0 ? null : percentOf(changed) },
    ...(changedUnknown > 0 && { changedLinesUnknown: `Of ${changedUnknown} changed classes it is not known` }),
  };
}

const countsOfNew = ({ counts, failures }: TestFacts): number | null =>
  failures.some(({ isKnown }) => isKnown === null)
    ? null
    : counts.failed - failures.filter(({ isKnown }) => isKnown).length;

function whyFailed(gates: TestGates, facts: TestFacts): string | null {
  const { run, isNothingToRun = false, counts, failures, coverage, changed } = facts;
  const { minCoverage, minChangedCoverage } = gates;
  const mayFail = (each: Failure) =>
    (gates.noNewFailures === true && each.isKnown === true) || (gates.ignoreFlaky === true && isIgnored(each));
  const counted = failures.filter((each) => !mayFail(each));
  const failed = counts.failed - (failures.length - counted.length);
  if (failed > 0) return failedText(gates, failed, counted, counts);
  if (run.status === 'Aborted') return 'The tests were aborted in the org';
  if (counts.total === 0 && !isNothingToRun) return 'No test ran: the org has none of those that were asked for';
  if (counts.total < run.enqueued)
    return `${run.enqueued - counts.total} of ${run.enqueued} test methods left no result`;
  if (run.status === 'Failed' && counts.failed === 0) return 'The org says that the tests failed, and not which';
  const percent = percentCovered(coverage) ?? 0;
  if (minCoverage !== undefined && percent < minCoverage)
    return `The tests cover ${percent} % of the lines of the org; ${minCoverage} % are asked for`;
  return minChangedCoverage === undefined ? null : whyNotCovered(minChangedCoverage, changed);
}

function failedText(gates: TestGates, failed: number, counted: readonly Failure[], { total }: ResultCounts): string {
  const shown = counted.slice(0, 3).map((each) => `${nameOf(each)}: ${each.message ?? ''}`);
  const others = failed > shown.length ? `; and ${failed - shown.length} more` : '';
  const isUnknown = gates.noNewFailures === true && counted.some(({ isKnown }) => isKnown === null);
  const unknown = isUnknown ? ' (no tests are known that ran with what the org ran before: all count as new)' : '';
  return cut(`${failed} of ${total} test methods failed${unknown}: ${shown.join('; ')}${others}`, 1_000);
}

function whyNotCovered(minimum: number, changed: TestFacts['changed']): string | null {
  const notKnown = 'It is not known how much of what changed the tests cover';
  if (changed === null || typeof changed === 'string') return `${notKnown}: ${changed ?? ''}`;
  if (changed.changedUnknown > 0)
    return `${notKnown}, as it is not of ${changed.changedUnknown} of the classes: the coverage of the run says why`;
  const percent = percentOf(changed);
  return percent !== null && percent < minimum
    ? `The tests cover ${percent} % of the lines that changed (${changed.changedCovered} of ${changed.changedLines}); ${minimum} % are asked for`
    : null;
}
