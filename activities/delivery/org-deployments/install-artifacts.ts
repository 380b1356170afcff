import { setTimeout as sleep } from 'node:timers/promises';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { claimSource, keepSource } from '../../../domain/delivery/org-deployments/org-sources.queries.ts';
import { DEPLOY, VALIDATE } from '../../../domain/delivery/org-deployments/source-of-run.ts';
import { whyOtherOrg } from '../../../domain/delivery/org-steps/org-of-run.ts';
import { isEnded } from '../../../domain/delivery/org-steps/org-step-rules.ts';
import { moveStep, type StepRow, stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { FollowedOperation, Pending } from '../flows/operations.activities.ts';
import { actInOrg, followInOrg, PASSES } from '../org-steps/act-in-org.ts';
import { awaitTurn } from '../org-steps/await-turn.ts';
import { outcomeOfFailed } from '../org-steps/begin-once.ts';
import { answered, OrgCallFailed } from '../org-steps/org-call-failed.ts';
import { type Built, buildStep } from './build-step.ts';
import { type Deployed, deployedSource, deployStep, endedDeployment, removeArchive, settle } from './deploy-step.ts';
import { type OrgWork, inUnit, move } from '../org-steps/org-work.ts';
import { findDeployment } from './find-deployment.ts';
import { type BuildIntent, type DeployIntent, LOOK_AT, plannedSteps } from './plan-deployment.ts';

/** Deploys the source of a commit to an org, or has the org validate it. */
export const installArtifacts: FollowedOperation = {
  advance(deps, tenant, run, signal) {
    return followInOrg(deps, tenant, run, { signal, lookAt: LOOK_AT }, async (org) => {
      const work = { deps, tenant, run, org };
      // What the org runs, upon which is built, is known when those before have ended.
      const turn = await awaitTurn(work, 'the run deploys');
      if (turn) return turn;
      const { build, deploy } = sourceStepsOf(await plannedSteps(work, signal));
      if (!build || !deploy) throw new Error(`the run ${run.id} has no steps`);
      return advanceSource(work, build, deploy, signal);
    });
  },

  cancel: cancelSource,
};

/** The steps of a run that make and deploy, or validate, source: the one is right before the other. */
export function sourceStepsOf(steps: readonly StepRow[]): {
  build?: StepRow | undefined;
  deploy?: StepRow | undefined;
} {
  const at = steps.findIndex(({ name }) => name === DEPLOY || name === VALIDATE);
  return at < 1 ? {} : { build: steps[at - 1], deploy: steps[at] };
}

/** Stops the source of a run in its org; answers what goes on there nevertheless, or null. */
export async function cancelSource(
  ...[deps, tenant, run, signal]: Parameters<FollowedOperation['cancel']>
): Promise<string | null> {
  const { build, deploy } = sourceStepsOf(await stepsOfRun(deps.reads.as(systemActor(tenant, 'flow')), run.id));
  if (!build || !deploy || isEnded(deploy.state)) return null;
  if (!isEnded(build.state)) await move({ deps, tenant }, build, { state: 'cancelled' });
  if (deploy.state === 'planned') {
    await move({ deps, tenant }, deploy, { state: 'cancelled' });
    return null;
  }
  // An org that is away is asked again: what passes is thrown.
  const outcome = await actInOrg(deps, tenant, run, { signal, isCancel: true }, async (org) => {
    const work = { deps, tenant, run, org };
    const remark = (await whyElsewhere(work, deploy)) ?? (await stop(work, build, deploy, signal));
    return { status: 'cancelled', ...(remark !== null && { error: remark }) };
  });
  const error = 'againInSeconds' in outcome ? outcome.text : outcome.error;
  if (error === undefined) return null;
  const isStopped = 'status' in outcome && outcome.status !== 'failed';
  const remark = isStopped ? error : `The deployment may go on, look at ${LOOK_AT}: ${error}`;
  await move({ deps, tenant }, deploy, { state: 'unknown', error: remark });
  return remark;
}

export const whyElsewhere = ({ deps, tenant, org }: OrgWork, deploy: StepRow) =>
  whyOtherOrg(deps.reads.as(systemActor(tenant, 'flow')), org, [deploy], 'the run deploys');

/** Takes the source of a run on: builds it, deploys it, and says how that ended. */
export async function advanceSource(
  work: OrgWork,
  build: StepRow,
  deploy: StepRow,
  signal: AbortSignal,
): Promise<RunOutcome | Pending> {
  const { validationId } = deploy.intent as DeployIntent;
  if (!isEnded(build.state)) {
    if (validationId === undefined) return buildStep(work, build, signal);
    await move(work, build, { state: 'skipped', detail: 'It was built for the validation' });
    return { againInSeconds: 0, text: 'Deploying what was validated' };
  }
  if (isEnded(deploy.state)) {
    await removeArchive(work, build);
    return outcomeOf(work, build, deploy);
  }
  if (build.state === 'failed') {
    await move(work, deploy, { state: 'skipped' });
    return { status: 'failed', error: build.error ?? 'The source could not be built' };
  }
  if (validationId !== undefined) return deployStep(work, build, deploy, signal);
  if ((build.result as unknown as Built).form === 'nothing') return nothingToDeploy(work, build, deploy);
  return deployStep(work, build, deploy, signal);
}

/** The org runs the commit already, as far as source goes. */
async function nothingToDeploy(work: OrgWork, build: StepRow, deploy: StepRow): Promise<Pending> {
  const source = deployedSource(work, build, deploy);
  await inUnit(work, async (tx) => {
    await moveStep(tx, deploy.id, { state: 'skipped' });
    if (!source || deploy.name === VALIDATE) return;
    const { baseSha, baseSettings } = build.intent as unknown as BuildIntent;
    if (await claimSource(tx, { ...source, baseSha, baseSettings })) await keepSource(tx, source);
  });
  return { againInSeconds: 0, text: 'Nothing to deploy' };
}

function outcomeOf({ org }: OrgWork, build: StepRow, deploy: StepRow): RunOutcome {
  const { commitSha, baseSha } = build.intent as unknown as BuildIntent;
  const { form, reason, components, deletions, pending, warnings = [] } = build.result as unknown as Partial<Built>;
  const { lockRetries: _, warnings: remarks = [], ...deployed } = deploy.result as Deployed;
  const result = {
    commitSha,
    baseSha,
    ...(form !== undefined && { form, reason, components, deletions, pendingDeletions: pending?.length ?? 0 }),
    validateOnly: deploy.name === VALIDATE,
    deploymentId: deploy.externalId,
    orgUsername: org.username,
    ...deployed,
    warnings: [...warnings, ...remarks],
  };
  if (build.state === 'failed') return { status: 'failed', error: build.error ?? '' };
  if (deploy.state === 'succeeded' || deploy.state === 'skipped') return { status: 'succeeded', result };
  return { ...outcomeOfFailed(deploy), result };
}

/** An org may take a while to stop; so often it is asked. */
const STOP_POLLS = 20;
const STOP_PAUSE_MS = 3_000;

/** Stops a deployment in its org. Answers what became of it otherwise; null: it was stopped. */
async function stop(work: OrgWork, build: StepRow, deploy: StepRow, signal: AbortSignal): Promise<string | null> {
  const { deps, org } = work;
  const found =
    deploy.externalId ?? answered(await findDeployment(work, build, deploy)(new Date(deploy.askedAt ?? deps.now())));
  if (found === null || !found.startsWith('0Af')) {
    return `It is not known whether the org deploys: look at ${LOOK_AT}`;
  }
  const step = { ...deploy, externalId: found };
  if (deploy.externalId === null) await move(work, deploy, { state: 'begun', externalId: found });
  const asked = await org.calls.cancelDeployment(found);
  if (!asked.isOk && PASSES[asked.kind]) throw new OrgCallFailed(asked);
  for (let polls = 0; polls < STOP_POLLS; polls++) {
    const now = answered(await org.calls.deploymentStatus(found));
    if (now.isDone) {
      if (now.status === 'Canceled') {
        await move(work, step, { state: 'cancelled', detail: null });
        return null;
      }
      await settle(work, build, step, await endedDeployment(work, found), signal);
      return `It could not be stopped: the org ended it as ${now.status}`;
    }
    await sleep(STOP_PAUSE_MS * deps.flows.pace, undefined, { signal });
  }
  return asked.isOk
    ? `The org is still stopping it: look at ${LOOK_AT}`
    : `The org does not stop it: ${asked.message}; look at ${LOOK_AT}`;
}
