import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { type CoveredClass, coveredClassOf, RUN_TESTS } from '../../../domain/delivery/apex-tests/apex-test-rules.ts';
import { COVERAGE } from '../../../domain/delivery/apex-tests/apex-test-soql-rules.ts';
import {
  countResults,
  keepCoverage,
  resultsOfRun,
  totalCoverage,
} from '../../../domain/delivery/apex-tests/apex-tests.queries.ts';
import {
  failedOnBase,
  findTestRun,
  keepWhyUnknown,
  methodKey,
  testHistory,
  type TestRunRow,
} from '../../../domain/delivery/apex-tests/test-history.queries.ts';
import { type Failure, gatesOf, outcomeOfTests } from '../../../domain/delivery/apex-tests/test-outcome-rules.ts';
import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { Reads } from '../../../domain/kernel/data/fenced-reads.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { keepLines } from '../org-steps/act-in-org.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import { inUnit, type OrgWork } from '../org-steps/org-work.ts';
import { type ChangedClass, coverageOfChanges } from './changed-coverage.ts';
import { chosenTests } from './plan-tests.ts';

/** So many failures are judged; further ones count as new, and as not flaky. */
const FAILURES_MAX = 1_000;

/** How a run ends whose tests have ended, or that had none to run. */
export async function settle(work: OrgWork, steps: readonly StepRow[], signal: AbortSignal): Promise<RunOutcome> {
  const { deps, tenant, run, org } = work;
  const reads = deps.reads.as(systemActor(tenant, 'flow'));
  const testRun = await findTestRun(reads, run.id);
  const gates = testRun?.gates ?? gatesOf(run.payload);
  const { rows, isComplete } = answered(await org.calls.query(COVERAGE, { isTooling: true }));
  const changed = await changesOf(work, testRun, signal);
  const classes = withChanges(
    rows.map(coveredClassOf).filter((each) => each !== undefined),
    Array.isArray(changed) ? changed : [],
  );
  const coverage = await inUnit(work, async (tx) => {
    await keepCoverage(tx, run.id, classes);
    if (typeof changed === 'string') await keepWhyUnknown(tx, run.id, changed);
    return totalCoverage(tx, run.id);
  });
  const counts = await countResults(reads, run.id);
  const failures = await judged(reads, testRun, run.id);
  const chosen = chosenTests(steps);
  const first = steps.find(({ name }) => name === RUN_TESTS);
  const { status = '', enqueued = 0 } = (first?.result ?? {}) as { status?: string; enqueued?: number };
  const { result, ...outcome } = outcomeOfTests(gates, {
    run: { status, enqueued },
    isNothingToRun: first === undefined,
    counts,
    failures,
    coverage,
    changed: Array.isArray(changed) ? coverage : changed,
  });
  const kept = await keepLines(deps, tenant, run.id, [
    ...(work.linesBefore ?? []),
    ...(chosen ? [chosen.reason, ...chosen.untested.map((name) => `No test reaches ${name}`)] : []),
    ...failures.map(lineOf),
    first
      ? `${counts.passed} of ${counts.total} test methods passed, ${counts.skipped} were skipped`
      : 'No test was run',
  ]);
  const all = { ...result, ...(chosen && { selection: chosen }), orgUsername: org.username, ...kept };
  if (isComplete || gates.minCoverage === undefined) return { ...outcome, result: all };
  const error = `The org has more classes than are read (${rows.length}): whether minCoverage is met is not known`;
  return { status: 'failed', error, result: all };
}

const lineOf = ({ className, method, message, stackTrace, isKnown, isFlaky }: Failure): string => {
  const marks = [isKnown === true && 'it failed before', isFlaky && 'it is flaky'].filter(Boolean).join(', ');
  const head = `${className}.${method}${marks === '' ? '' : ` (${marks})`}: ${message ?? ''}`;
  return [head, stackTrace].filter(Boolean).join('\n');
};

/** Null: nobody asked for what changed. */
const changesOf = async (
  work: OrgWork,
  testRun: TestRunRow | undefined,
  signal: AbortSignal,
): Promise<ChangedClass[] | string | null> => {
  const { commitSha = null, baseSha = null, whyUnknown = null } = testRun ?? {};
  return commitSha === null || baseSha === null ? whyUnknown : coverageOfChanges(work, { commitSha, baseSha }, signal);
};

/** By name, under which a class and a trigger may both be: their lines are added up. */
function withChanges(covered: readonly CoveredClass[], changed: readonly ChangedClass[]): CoveredClass[] {
  const classes = new Map<string, CoveredClass>();
  for (const each of [...covered, ...changed.map((one) => ({ lines: 0, uncovered: 0, ...one }))]) {
    const before = classes.get(each.className);
    const sum = before && {
      lines: before.lines + each.lines,
      uncovered: before.uncovered + each.uncovered,
      changedLines: added(before.changedLines, each.changedLines),
      changedCovered: added(before.changedCovered, each.changedCovered),
      whyUnknown: before.whyUnknown ?? each.whyUnknown,
    };
    classes.set(each.className, { ...each, ...sum });
  }
  return [...classes.values()];
}

const added = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : one + other;

async function judged(reads: Reads, testRun: TestRunRow | undefined, runId: string): Promise<Failure[]> {
  const failures = await resultsOfRun(reads, runId, { group: 'failed', limit: FAILURES_MAX, offset: 0 });
  const known = testRun && (await failedOnBase(reads, testRun, failures));
  const history = testRun ? await testHistory(reads, testRun, failures, { isBefore: true }) : undefined;
  return failures.map((each) => ({
    ...each,
    isKnown: known?.has(methodKey(each)) ?? null,
    isFlaky: history?.get(methodKey(each))?.isFlaky ?? false,
  }));
}
