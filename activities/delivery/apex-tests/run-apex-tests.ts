import type { Pending, FollowedOperation } from '../flows/operations.activities.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import {
  COMPARE,
  isTestStep,
  lockedMethods,
  mayBeOf,
  RUN_AGAIN,
  testOrderOf,
  testResultOf,
  type TestResult,
  testRunStateOf,
  whyGivenUp,
} from '../../../domain/delivery/apex-tests/apex-test-rules.ts';
import {
  classesOfRun,
  openQueueItems,
  RESULTS_PER_QUERY,
  testResultsAfter,
  testRunOf,
  testRunsSince,
} from '../../../domain/delivery/apex-tests/apex-test-soql-rules.ts';
import { keepResults, resultsOfRun } from '../../../domain/delivery/apex-tests/apex-tests.queries.ts';
import { pollSeconds } from '../../../domain/delivery/org-deployments/deployment-outcome-rules.ts';
import { whyOtherOrg } from '../../../domain/delivery/org-steps/org-of-run.ts';
import { isEnded } from '../../../domain/delivery/org-steps/org-step-rules.ts';
import { addStep, type StepRow, stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { partsOf } from '../../../domain/kernel/shared/at-once-rules.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { TestRunOrder } from '../../../domain/orgs/crm/crm-apex-tests.port.ts';
import { RECORDS_PER_CALL } from '../../../domain/orgs/crm/crm-records.port.ts';
import { type CrmOrg, type CrmRow, TOO_LARGE } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { actInOrg, followInOrg } from '../org-steps/act-in-org.ts';
import { beginOnce, CANNOT_TELL, outcomeOfFailed } from '../org-steps/begin-once.ts';
import { noteProgress } from '../org-steps/note-progress.ts';
import { inUnit, move, type OrgWork } from '../org-steps/org-work.ts';
import { ownSince } from '../org-steps/own-since.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import { beginChosen, chosenTests, compareStep, plannedTests } from './plan-tests.ts';
import { settle } from './settle-tests.ts';

/** A run keeps at most so many results. */
const RESULTS_MAX = 20_000;
const LOOK_AT = 'Apex Test Execution in Setup';
const TOOLING = { isTooling: true };

const whyElsewhere = ({ deps, tenant, org }: OrgWork, steps: readonly StepRow[]) =>
  whyOtherOrg(deps.reads.as(systemActor(tenant, 'flow')), org, steps, 'tests run');

/** Runs Apex tests in an org; those that fail for a lock are run a second time, by themselves. */
export const runApexTests: FollowedOperation = {
  advance(deps, tenant, run, signal) {
    return followInOrg(deps, tenant, run, { signal, lookAt: LOOK_AT }, (org) =>
      advanceTests({ deps, tenant, run, org }, signal),
    );
  },

  async cancel(deps, tenant, run, signal) {
    const all = await stepsOfRun(deps.reads.as(systemActor(tenant, 'flow')), run.id);
    const steps = all.filter(isTestStep);
    const open = steps.find(({ state }) => !isEnded(state));
    if (!open) return steps.find(({ state }) => state === 'unknown')?.error ?? null;
    const remark = open.state === 'planned' ? null : await stopped({ deps, tenant, run }, steps, open, signal);
    await move({ deps, tenant }, open, remark === null ? { state: 'cancelled' } : { state: 'unknown', error: remark });
    return remark;
  },
};

/** Takes the tests that a run's payload asks for on, behind the other steps that the run has. */
export async function advanceTests(given: OrgWork, signal: AbortSignal): Promise<RunOutcome | Pending> {
  const steps = await plannedTests(given, signal);
  const open = steps.find(({ state }) => !isEnded(state));
  const elsewhere = await whyElsewhere(given, steps);
  if (elsewhere !== null) return fail(given, open, elsewhere);
  if (open?.name === COMPARE) return compareStep(given, open, signal);
  if (open) return followTests(given, open);
  const last = steps.at(-1);
  if (last?.state === 'failed' || last?.state === 'unknown') return outcomeOfFailed(last);
  const chosen = last?.name === COMPARE ? chosenTests(steps) : undefined;
  const next = chosen ? await beginChosen(given, chosen) : await runAgain(given, steps);
  return next ?? settle(given, steps, signal);
}

async function fail(given: OrgWork, step: StepRow | undefined, error: string): Promise<RunOutcome> {
  if (step) await move(given, step, { state: 'failed', error });
  return { status: 'failed', error };
}

/** Stops what a step began in the org; answers what may go on there nevertheless. */
async function stopped(
  { deps, tenant, run }: Omit<OrgWork, 'org'>,
  steps: readonly StepRow[],
  step: StepRow,
  signal: AbortSignal,
): Promise<string | null> {
  const outcome = await actInOrg(deps, tenant, run, { signal, isCancel: true }, async (org) => {
    const given = { deps, tenant, run, org };
    const remark = (await whyElsewhere(given, steps)) ?? (await stop(given, step));
    return { status: 'cancelled', ...(remark !== null && { error: remark }) };
  });
  return 'againInSeconds' in outcome ? 'Tests may go on: the org could not be reached' : (outcome.error ?? null);
}

async function stop(given: OrgWork, step: StepRow): Promise<string | null> {
  const { deps, org } = given;
  const jobId = step.externalId ?? answered(await jobSince(given, step)(new Date(step.askedAt ?? deps.now())));
  if (jobId === null || jobId === CANNOT_TELL)
    return `It is not known whether tests run in the org: look at ${LOOK_AT}`;
  if (step.externalId === null) await move(given, step, { state: 'begun', externalId: jobId });
  const left = await abort(org.calls, jobId);
  return left > 0 ? `${left} test classes still run in the org` : null;
}

function orderOf({ payload }: RunContext, { intent }: StepRow): TestRunOrder {
  const { methods, classNames } = intent as Partial<Pick<TestRunOrder, 'methods' | 'classNames'>>;
  const chosen = classNames && ({ testLevel: 'RunSpecifiedTests', classNames } as const);
  return { ...testOrderOf(payload), ...chosen, methods };
}

const jobSince = ({ deps, tenant, org, run }: OrgWork, step: StepRow) =>
  ownSince(deps, tenant, org, step, {
    soql: testRunsSince,
    member: 'AsyncApexJobId',
    async mayBe(jobId) {
      const items = await org.calls.query(classesOfRun(jobId));
      if (!items.isOk) return items;
      const classes = items.value.rows.flatMap(({ ApexClass }) => {
        const { Name: name } = (ApexClass ?? {}) as CrmRow;
        return typeof name === 'string' ? [name] : [];
      });
      return { isOk: true, value: mayBeOf(orderOf(run, step), classes) };
    },
  });

async function followTests(given: OrgWork, step: StepRow): Promise<RunOutcome | Pending> {
  const { deps, tenant, run, org } = given;
  const begun = await beginOnce(deps, tenant, step, {
    async create() {
      const made = await org.calls.startTests(orderOf(run, step));
      return made.isOk ? { isOk: true, value: made.value.jobId } : made;
    },
    find: jobSince(given, step),
    lookAt: LOOK_AT,
  });
  const jobId = begun.externalId ?? '';
  const { rows } = answered(await org.calls.query(testRunOf(jobId), TOOLING));
  const state = testRunStateOf(rows[0] ?? {});
  if (!state.isDone) {
    const ageMs = deps.now().getTime() - new Date(begun.askedAt ?? deps.now()).getTime();
    const givenUp = whyGivenUp(state, ageMs);
    if (givenUp !== null) return fail(given, begun, `${givenUp}: look at ${LOOK_AT}`);
    const counts = { tests: state.enqueued, testsDone: state.completed, testErrors: state.failed };
    const percent = state.enqueued === 0 ? 0 : Math.round((state.completed / state.enqueued) * 100);
    const text = state.status === 'Queued' || state.status === '' ? 'Tests wait in the org' : 'Tests run';
    const progress = { percent, counts };
    const isGivenUp = await noteProgress(given, begun, { text, progress, lookAt: LOOK_AT });
    return { againInSeconds: isGivenUp ? 0 : pollSeconds(ageMs), text, progress };
  }
  const results = await resultsOf(org.calls, jobId, { isRepeated: step.intent.methods !== undefined });
  await inUnit(given, (tx) => keepResults(tx, run.id, results));
  const { status, enqueued } = state;
  await move(given, begun, {
    state: 'succeeded',
    detail: null,
    progress: { percent: 100 },
    result: { status, enqueued },
  });
  return { againInSeconds: 0, text: 'Reading results' };
}

async function resultsOf(calls: CrmOrg, jobId: string, { isRepeated }: { isRepeated: boolean }): Promise<TestResult[]> {
  const results = new Map<string, TestResult>();
  let [perQuery, ...fewer]: readonly number[] = RESULTS_PER_QUERY;
  for (let lastId = ''; results.size < RESULTS_MAX; ) {
    const answer = await calls.query(testResultsAfter(jobId, lastId, perQuery ?? 1), TOOLING);
    if (!answer.isOk && answer.code === TOO_LARGE && fewer.length > 0) {
      [perQuery, ...fewer] = fewer;
      continue;
    }
    const { rows } = answered(answer);
    for (const row of rows) {
      const result = testResultOf(row, { isRepeated });
      results.set(`${result.className} ${result.method}`, result);
    }
    lastId = (rows.at(-1)?.Id ?? '') as string;
    if (rows.length < (perQuery ?? 1)) break;
  }
  return [...results.values()].slice(0, RESULTS_MAX);
}

/** Null: there is nothing to run again, or that was done. */
async function runAgain(given: OrgWork, steps: readonly StepRow[]): Promise<Pending | null> {
  if (steps.some(({ name }) => name === RUN_AGAIN)) return null;
  const { run, org } = given;
  const failures = await inUnit(given, (tx) =>
    resultsOfRun(tx, run.id, { group: 'failed', limit: RESULTS_MAX, offset: 0 }),
  );
  const methods = lockedMethods(failures);
  if (methods.length === 0) return null;
  await inUnit(given, (tx) => addStep(tx, run.id, { name: RUN_AGAIN, orgId: org.orgId, intent: { methods } }));
  return { againInSeconds: 0, text: RUN_AGAIN };
}

/** Ends what of a job has not; answers how many classes could not be stopped. */
async function abort(calls: CrmOrg, jobId: string): Promise<number> {
  const { rows } = answered(await calls.query(openQueueItems(jobId)));
  let left = 0;
  for (const part of partsOf(rows, RECORDS_PER_CALL)) {
    const records = part.map(({ Id }) => ({ Id, Status: 'Aborted' }));
    const written = answered(await calls.updateRecords({ type: 'ApexTestQueueItem', records }));
    left += written.filter(({ errors }) => errors.length > 0).length;
  }
  return left;
}
