import { COMPARE, isTestStep, RUN_TESTS } from '../../../domain/delivery/apex-tests/apex-test-rules.ts';
import { keepTestRun } from '../../../domain/delivery/apex-tests/test-history.queries.ts';
import { gatesOf, lookAtChanges } from '../../../domain/delivery/apex-tests/test-outcome-rules.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { addStep, type StepRow, stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { projectById } from '../../../domain/projects/projects/projects.queries.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { inUnit, move, type OrgWork } from '../org-steps/org-work.ts';
import { type ChosenTests, chooseTests } from './choose-tests.ts';
import { comparedCommits, ranByOrg, sidesOf } from './compared-commits.ts';

/**
 * The steps of a run that are about tests, which are planned once, with what the org runs, what is compared, and what the run must come to. Throws
 * `flow_unavailable` where what changed is to choose the tests, and cannot be known.
 */
export async function plannedTests(work: OrgWork, signal: AbortSignal): Promise<StepRow[]> {
  const { deps, tenant, run, org } = work;
  const reads = deps.reads.as(systemActor(tenant, 'flow'));
  const before = (await stepsOfRun(reads, run.id)).filter(isTestStep);
  if (before.length > 0) return before;
  const project = run.projectId === null ? undefined : await projectById(reads, run.projectId);
  const gates = gatesOf(run.payload, project?.configuration.apexTests);
  const { changedClassesOnly, since, commitId } = run.payload;
  const isChosen = changedClassesOnly === true;
  const ranSha = await ranByOrg(work);
  const isCompared = isChosen || since !== undefined || lookAtChanges(gates);
  const sides = isCompared ? await sidesOf(work, ranSha, signal) : undefined;
  if (isChosen && sides?.isOk === false) throw new DomainError('flow_unavailable', sides.reason);
  const { commitSha = null, baseSha = null } = sides?.isOk ? sides : {};
  const begun = {
    orgId: org.orgId,
    ranSha: ranSha ?? commitSha ?? commitId?.toLowerCase() ?? null,
    commitSha,
    baseSha,
    whyUnknown: sides?.isOk === false ? sides.reason : null,
    gates,
  };
  return inUnit(work, async (tx) => {
    await keepTestRun(tx, run.id, begun);
    const first = isChosen
      ? { name: COMPARE, orgId: null, intent: { commitSha, baseSha } }
      : { name: RUN_TESTS, orgId: org.orgId };
    return (await addStep(tx, run.id, first)).filter(isTestStep);
  });
}

/** Chooses the tests. */
export async function compareStep(work: OrgWork, step: StepRow, signal: AbortSignal): Promise<Pending | RunOutcome> {
  try {
    const sides = step.intent as { commitSha: string; baseSha: string };
    const chosen = await chooseTests(work, await comparedCommits(work, sides, signal));
    await move(work, step, { state: 'succeeded', result: { ...chosen } });
    return { againInSeconds: 0, text: chosen.reason };
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'flow_unavailable') throw error;
    await move(work, step, { state: 'failed', error: error.message });
    return { status: 'failed', error: error.message };
  }
}

/** What the step that chose tests came to; undefined: the run has none. */
export const chosenTests = (steps: readonly StepRow[]): ChosenTests | undefined =>
  steps.find(({ name }) => name === COMPARE)?.result as unknown as ChosenTests | undefined;

/** Goes on with the tests that were chosen. Answers how the run ends, where they cannot be run; null: there are none to run. */
export async function beginChosen(work: OrgWork, chosen: ChosenTests): Promise<Pending | RunOutcome | null> {
  const { classNames, missing, untested } = chosen;
  if (missing.length > 0)
    return failed(
      `The org does not have test classes that the commit has: ${missing.join(', ')}. Deploy it first`,
      chosen,
    );
  if (classNames?.length === 0)
    return untested.length === 0 ? null : failed(`No test reaches what changed: ${untested.join(', ')}`, chosen);
  const intent = classNames === null ? {} : { classNames };
  await inUnit(work, (tx) => addStep(tx, work.run.id, { name: RUN_TESTS, orgId: work.org.orgId, intent }));
  return { againInSeconds: 0, text: RUN_TESTS };
}

const failed = (error: string, chosen: ChosenTests): RunOutcome => ({
  status: 'failed',
  error,
  result: { selection: chosen },
});
