import { runById, type RunContext, writeResult } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { sayLines } from '../../../domain/delivery/flows/run-progress.mutations.ts';
import { flowType } from '../../../domain/delivery/flows/flow-types.ts';
import {
  isPackageStep,
  linesOfSteps,
  outcomeOfSteps,
  resultOfSteps,
} from '../../../domain/delivery/org-packages/package-intents.ts';
import { isTestStep } from '../../../domain/delivery/apex-tests/apex-test-rules.ts';
import { wishOf } from '../../../domain/delivery/org-deployments/deploy-order-rules.ts';
import { withDefaults } from '../../../domain/delivery/org-deployments/deploy-settings-rules.ts';
import { deploySettingsOf } from '../../../domain/projects/environments/environments.queries.ts';
import { leftBehind } from '../../../domain/delivery/org-releases/rollback-limits.ts';
import { notesUrlOf } from '../../../domain/delivery/org-releases/release-of-run.ts';
import { isEnded } from '../../../domain/delivery/org-steps/org-step-rules.ts';
import { TEST_RUN_LEVELS } from '../../../domain/orgs/crm/crm-apex-tests.port.ts';
import { planSteps, type StepRow, stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { FollowedOperation, Pending } from '../flows/operations.activities.ts';
import { advanceTests, runApexTests } from '../apex-tests/run-apex-tests.ts';
import { advanceSource, cancelSource, sourceStepsOf } from '../org-deployments/install-artifacts.ts';
import { LOOK_AT as DEPLOYMENTS } from '../org-deployments/plan-deployment.ts';
import { awaitTurn } from '../org-steps/await-turn.ts';
import { followInOrg, keepLines } from '../org-steps/act-in-org.ts';
import { UnknownOutcome } from '../org-steps/begin-once.ts';
import { OrgCallFailed } from '../org-steps/org-call-failed.ts';
import { move } from '../org-steps/org-work.ts';
import { installing } from '../org-packages/install-packages.ts';
import {
  advancePackages,
  cancelPackages,
  LOOK_AT as PACKAGES,
  type PackageRun,
} from '../org-packages/package-steps.ts';
import { planRelease, type ReleasePlan } from './plan-release.ts';

const LOOK_AT = `${PACKAGES} and ${DEPLOYMENTS}`;

/**
 * Takes a release to the org of its environment, or back to it: the package versions that it carries, and then the source of
 * its commit.
 */
export const releaseOperation: FollowedOperation = {
  advance: (deps, tenant, run, signal) =>
    followInOrg(deps, tenant, inEnvironment(run), { signal, lookAt: LOOK_AT }, (org) =>
      advance({ deps, tenant, run, org, signal, unit: deps.actingAs(systemActor(tenant, 'flow')) }),
    ),

  async check(deps, tenant, run, signal) {
    const unit = deps.actingAs(systemActor(tenant, 'flow'));
    const found = await followInOrg(deps, tenant, inEnvironment(run), { signal }, async (org) => {
      const given = { deps, tenant, run, org, signal, unit };
      const planned = await planRelease(given);
      if (!('steps' in planned)) return planned;
      await note(given, planned.notes);
      return { againInSeconds: 0, text: 'It can go' };
    });
    return 'againInSeconds' in found ? null : found;
  },

  async cancel(deps, tenant, run, signal) {
    const unit = deps.actingAs(systemActor(tenant, 'flow'));
    const remarks = await cancelPackages({ unit, run });
    const ofSource = await cancelSource(deps, tenant, inEnvironment(run), signal);
    const tested = { ...inEnvironment(run), payload: { id: run.taskType, ...(await testsOf({ run, unit })) } };
    const ofTests = await runApexTests.cancel(deps, tenant, tested, signal);
    const packages = (await unit((tx) => stepsOfRun(tx, run.id))).filter(isPackageStep);
    await unit(async (tx) => {
      const { result } = await runById(tx, run.id, { forUpdate: true });
      await writeResult(tx, run.id, { ...result, ...ofPackages(packages) });
    });
    const all = [...remarks, ofSource, ofTests].filter((remark) => remark !== null);
    return all.length > 0 ? all.join('; ') : null;
  },
};

/** The org of a release is that of its environment, whatever else the payload names. */
const inEnvironment = (run: RunContext): RunContext => {
  const { orgUsername: _, ...payload } = run.payload;
  return { ...run, payload };
};

const ofPackages = (packages: readonly StepRow[]) => (packages.length > 0 ? resultOfSteps(packages) : {});

/** Says before it begins what a run leaves out and cannot do. */
async function note({ run, unit }: PackageRun, notes: ReleasePlan['notes']): Promise<void> {
  await unit(async (tx) => {
    const { result } = await runById(tx, run.id, { forUpdate: true });
    await writeResult(tx, run.id, { ...result, ...notes });
    const said = new Set(linesOfNotes(result));
    const isNew = (line: string) => !said.has(line);
    await sayLines(tx, run, linesOfNotes(notes).filter(isNew));
  });
}

const linesOfNotes = ({ leftOut, cannotDo = [] }: ReleasePlan['notes']): string[] => [
  ...(leftOut ? [`Left out, as the candidate does not name it: ${leftOut.join(', ')}`] : []),
  ...cannotDo.map((each) => `Cannot be taken back: ${each}`),
];

async function advance(given: PackageRun): Promise<RunOutcome | Pending> {
  const { deps, tenant, run, org, unit, signal } = given;
  // What the org runs, upon which is built, is known when those before have ended.
  const turn = await awaitTurn(given, 'the release is deployed');
  if (turn) return turn;
  if ((await unit((tx) => stepsOfRun(tx, run.id))).length === 0) {
    const planned = await planRelease(given);
    if (!('steps' in planned)) return planned;
    await note(given, planned.notes);
    await unit((tx) => planSteps(tx, run.id, planned.steps));
  }
  const notes = (await unit((tx) => runById(tx, run.id))).result as ReleasePlan['notes'];
  const pending = await advancePackages(given, installing);
  if (pending) return pending;
  const steps = await unit((tx) => stepsOfRun(tx, run.id));
  const packages = steps.filter(isPackageStep);
  const { build, deploy } = sourceStepsOf(steps);
  const linesBefore = [...linesOfNotes(notes), ...linesOfSteps(packages)];
  const work = { deps, tenant, run, org, linesBefore };
  const end = (outcome: RunOutcome) => ended(given, outcome, linesBefore);
  const installed = outcomeOfSteps(packages);
  if (installed.status !== 'succeeded') {
    const detail = `not begun: ${installed.error ?? 'a package did not arrive'}`;
    for (const step of [build, deploy])
      if (step && !isEnded(step.state)) await move(work, step, { state: 'cancelled', detail });
    return end(installed);
  }
  const deployed = build && deploy ? await deploySource(work, build, deploy, signal) : installed;
  if ('againInSeconds' in deployed) return deployed;
  const isTested = deploy !== undefined && deploy.state !== 'skipped';
  // Tests that have begun go on, whatever the settings of the environment say now.
  const order = (await testsOf(given)) ?? (steps.some(isTestStep) ? {} : undefined);
  if (deployed.status !== 'succeeded' || isTested || !order) return end(deployed);
  const tested = await advanceTests({ ...work, run: { ...run, payload: { id: run.taskType, ...order } } }, signal);
  return 'againInSeconds' in tested ? tested : end({ ...tested, result: { ...deployed.result, ...tested.result } });
}

/** Takes the source on. The run of one that the org refuses ends by what is left of its steps: packages have arrived before. */
async function deploySource(...given: Parameters<typeof advanceSource>): Promise<RunOutcome | Pending> {
  const [{ deps, tenant, run }, , deploy] = given;
  try {
    return await advanceSource(...given);
  } catch (error) {
    if (!(error instanceof OrgCallFailed || error instanceof UnknownOutcome)) throw error;
    const steps = await stepsOfRun(deps.reads.as(systemActor(tenant, 'flow')), run.id);
    const now = steps.find(({ id }) => id === deploy.id);
    if (!now || !isEnded(now.state)) throw error;
    return { againInSeconds: 0, text: error.message };
  }
}

/** The tests that a run asks for beside its release, as it and its environment say. */
const testsOf = async ({ run, unit }: Pick<PackageRun, 'run' | 'unit'>) =>
  testsBeside(withDefaults(run.payload, await unit((tx) => deploySettingsOf(tx, run.environmentId))));

/** Tests that run by themselves where no source is deployed with which they would; undefined: none. */
function testsBeside(payload: Parameters<typeof wishOf>[0]): { testLevel: string; classNames: string[] } | undefined {
  const { testLevel, tests: classNames } = wishOf(payload);
  return TEST_RUN_LEVELS.some((level) => level === testLevel) ? { testLevel, classNames } : undefined;
}

/** How a run ends whose last part has ended so. */
async function ended(
  { deps, tenant, run, org, unit }: PackageRun,
  outcome: RunOutcome,
  linesBefore: readonly string[],
): Promise<RunOutcome> {
  const steps = await unit((tx) => stepsOfRun(tx, run.id));
  const { build } = sourceStepsOf(steps);
  const isChanged = steps.some((step) => step.orgId !== null && step.state === 'succeeded' && !isTestStep(step));
  const isRollback = flowType(run.taskType)?.isRollback === true;
  const left = isRollback ? leftBehind(steps, build?.result) : [];
  const isLeft = outcome.status === 'succeeded' && left.length > 0;
  const isFailed = outcome.status !== 'succeeded' || isLeft;
  // Deployments and tests have written their own lines behind these.
  const isWritten = outcome.result?.outputBytes !== undefined;
  const last = outcome.error ?? build?.detail;
  const lines = [...linesBefore, ...(last ? [last] : [])];
  const kept = isWritten ? {} : await keepLines(deps, tenant, run.id, lines);
  return {
    ...outcome,
    status: isFailed ? (isChanged ? 'partial' : 'failed') : outcome.status,
    ...(isLeft && { error: `Not all of it could be taken back: ${left.join(', ')}` }),
    result: {
      orgUsername: org.username,
      ...ofPackages(steps.filter(isPackageStep)),
      ...outcome.result,
      ...kept,
      ...(isChanged && { releaseNotesUrl: notesUrlOf(run) }),
    },
  };
}
