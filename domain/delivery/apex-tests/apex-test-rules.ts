import { TEST_RUN_LEVELS, type TestRunOrder } from '../../orgs/crm/crm-apex-tests.port.ts';
import type { CrmRow } from '../../orgs/crm/crm-platform.port.ts';
import { cut } from '../../orgs/crm/platform-error-rules.ts';
import { isLockError } from '../org-deployments/platform-advice-rules.ts';

/** Names of the steps that choose and run tests, and change nothing. */
export const COMPARE = 'Choose the tests that concern what changed';
export const RUN_TESTS = 'Run Apex tests';
export const RUN_AGAIN = 'Run the tests again that could not lock a row';

const TEST_STEPS: ReadonlySet<string> = new Set([COMPARE, RUN_TESTS, RUN_AGAIN]);

export const isTestStep = ({ name }: { name: string }): boolean => TEST_STEPS.has(name);

export interface TestResult {
  className: string;
  method: string;
  outcome: string;
  message: string | null;
  stackTrace: string | null;
  timeMs: number | null;
  isRepeated: boolean;
}

export interface CoveredClass {
  className: string;
  lines: number;
  uncovered: number;
  /** Lines that changed and can be covered; null: it did not change, or it is not known. */
  changedLines: number | null;
  changedCovered: number | null;
  /** Why it is not known which lines that changed are covered. */
  whyUnknown: string | null;
}

export interface ResultCounts {
  total: number;
  passed: number;
  failed: number;
  skipped: number;
  timeMs: number;
}

type Payload = Readonly<Record<string, unknown>>;
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
const levelOf = ({ testLevel }: Payload) => TEST_RUN_LEVELS.find((level) => level === testLevel);

/** Which tests a payload asks for: those that it names, else the org's own ones. */
export function testOrderOf(payload: Payload): TestRunOrder {
  const classNames = textsOf(payload.classNames);
  const suiteNames = textsOf(payload.suites);
  const isNamed = classNames.length > 0 || suiteNames.length > 0;
  return {
    testLevel: levelOf(payload) ?? (isNamed ? 'RunSpecifiedTests' : 'RunLocalTests'),
    classNames,
    suiteNames,
    maxFailedTests: typeof payload.maxFailedTests === 'number' ? payload.maxFailedTests : null,
  };
}

/** Why a payload names no tests that can be run; null: it does. */
export function whyNoTests(payload: Payload): string | null {
  const notCompared = whyNotCompared(payload);
  if (notCompared !== null) return notCompared;
  if (payload.testLevel !== undefined && !levelOf(payload))
    return `The testLevel is one of ${TEST_RUN_LEVELS.join(', ')}`;
  const { testLevel, classNames, suiteNames } = testOrderOf(payload);
  const isNamed = classNames.length > 0 || suiteNames.length > 0;
  if (testLevel === 'RunSpecifiedTests')
    return isNamed ? null : 'RunSpecifiedTests names tests by classNames or suites';
  return isNamed ? `With ${testLevel}, neither classNames nor suites are named` : null;
}

/** Why what a payload says of commits that are compared cannot be; null: it can, or says nothing of them. */
function whyNotCompared({ changedClassesOnly, since, repositoryIdentifier, ...payload }: Payload): string | null {
  if (changedClassesOnly !== true && since === undefined) return null;
  if (repositoryIdentifier === undefined) return 'What changed is read from a repository: name repositoryIdentifier';
  const chosen = ['testLevel', 'classNames', 'suites'].find((member) => payload[member] !== undefined);
  return changedClassesOnly === true && chosen !== undefined
    ? `With changedClassesOnly, what changed says which tests run: leave ${chosen} out`
    : null;
}

const MESSAGE_MAX = 4_000;
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value.replaceAll('\0', '').slice(0, MESSAGE_MAX).toWellFormed() : null;
const memberOf = (row: CrmRow, name: string): CrmRow => (row[name] ?? {}) as CrmRow;

/** A result as the platform gives it; classes of packages have their namespace before them. */
export function testResultOf(row: CrmRow, { isRepeated }: { isRepeated: boolean }): TestResult {
  const { Name: name, NamespacePrefix: namespace } = memberOf(row, 'ApexClass');
  return {
    className: cut([namespace, name ?? 'Flow'].filter(Boolean).join('.')),
    method: cut(textOf(row.MethodName) ?? '<compile>'),
    outcome: cut(textOf(row.Outcome) ?? 'Unknown', 50),
    message: textOf(row.Message),
    stackTrace: textOf(row.StackTrace),
    timeMs: typeof row.RunTime === 'number' ? row.RunTime : null,
    isRepeated,
  };
}

const UNCHANGED = { changedLines: null, changedCovered: null, whyUnknown: null };

export function coveredClassOf(row: CrmRow): CoveredClass | undefined {
  const { Name: name } = memberOf(row, 'ApexClassOrTrigger');
  const { NumLinesCovered: covered, NumLinesUncovered: uncovered } = row;
  if (typeof name !== 'string' || typeof covered !== 'number' || typeof uncovered !== 'number') return undefined;
  return { className: cut(name), lines: covered + uncovered, uncovered, ...UNCHANGED };
}

/** How far a run of tests is. */
export interface TestRunState {
  /** The platform's word: Queued, Processing, Completed, Failed, Aborted, … */
  status: string;
  isDone: boolean;
  enqueued: number;
  completed: number;
  failed: number;
}

const OPEN: ReadonlySet<string> = new Set(['Queued', 'Preparing', 'Processing', 'Holding', '']);

export function testRunStateOf(row: CrmRow): TestRunState {
  const status = textOf(row.Status) ?? '';
  const count = (value: unknown) => (typeof value === 'number' ? value : 0);
  return {
    status,
    isDone: !OPEN.has(status),
    enqueued: count(row.MethodsEnqueued),
    completed: count(row.MethodsCompleted),
    failed: count(row.MethodsFailed),
  };
}

const HOUR_MS = 3_600_000;

/** Why tests that the org does not show are not waited for any longer; null: they are. */
export const whyGivenUp = ({ status }: Pick<TestRunState, 'status'>, ageMs: number): string | null =>
  status === '' && ageMs > HOUR_MS ? 'The org shows no run of the tests that it was asked for an hour ago' : null;

/**
 * Whether a run of tests that the org shows can be that of an order, by the classes that it has; where suites or a level
 * are asked for, any can.
 */
export function mayBeOf({ classNames, suiteNames, methods }: TestRunOrder, classes: readonly string[]): boolean {
  const named = methods?.map(({ className }) => className) ?? (suiteNames.length > 0 ? [] : classNames);
  if (named.length === 0) return true;
  const known = new Set(named.map(plainName));
  return classes.every((name) => known.has(plainName(name)));
}
const plainName = (className: string): string => className.slice(className.lastIndexOf('.') + 1).toLowerCase();

/** The methods that failed for a lock alone: tests that run beside each other take rows from each other. */
export function lockedMethods(results: readonly TestResult[]): { className: string; methods: string[] }[] {
  const byClass = new Map<string, string[]>();
  for (const { className, method, outcome, message, isRepeated } of results)
    if (outcome === 'Fail' && !isRepeated && isLockError(message ?? ''))
      byClass.set(className, [...(byClass.get(className) ?? []), method]);
  return [...byClass].map(([className, methods]) => ({ className, methods }));
}

/** Covered lines in percent; null: nothing can be covered. */
export const percentCovered = ({ lines, uncovered }: { lines: number; uncovered: number }): number | null =>
  lines === 0 ? null : Math.round(((lines - uncovered) / lines) * 1_000) / 10;
