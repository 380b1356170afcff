import { runById, writeResult } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { linesOfSteps, outcomeOfSteps, resultOfSteps } from '../../../domain/delivery/org-packages/package-intents.ts';
import { type NewStep, planSteps } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { FollowedOperation, Pending } from '../flows/operations.activities.ts';
import { followInOrg, keepLines } from '../org-steps/act-in-org.ts';
import { awaitTurn } from '../org-steps/await-turn.ts';
import {
  advancePackages,
  cancelPackages,
  LOOK_AT,
  packageStepsOf,
  type PackageRun,
  type PackageWork,
} from './package-steps.ts';

interface PlannedWork extends PackageWork {
  /** The steps of a run, or why none is begun, or when to look again. */
  plan: (given: PackageRun) => Promise<NewStep[] | RunOutcome | Pending>;
}

/** An operation on packages: one version after the other, each a step with its request's id in the org. */
export const packageOperation = (work: PlannedWork): FollowedOperation => ({
  advance: (deps, tenant, run, signal) =>
    followInOrg(deps, tenant, run, { signal, lookAt: LOOK_AT }, (org) =>
      advance({ deps, tenant, run, org, signal, unit: deps.actingAs(systemActor(tenant, 'flow')) }, work),
    ),

  async check(deps, tenant, run, signal) {
    const unit = deps.actingAs(systemActor(tenant, 'flow'));
    const found = await followInOrg(deps, tenant, run, { signal }, async (org) => {
      const planned = await work.plan({ deps, tenant, run, org, signal, unit });
      return Array.isArray(planned) ? { againInSeconds: 0, text: 'It can go' } : planned;
    });
    return 'againInSeconds' in found ? null : found;
  },

  async cancel(deps, tenant, run) {
    const unit = deps.actingAs(systemActor(tenant, 'flow'));
    const remarks = await cancelPackages({ unit, run });
    const ended = await packageStepsOf({ unit, run });
    const kept = await keepLines(deps, tenant, run.id, linesOfSteps(ended));
    await unit(async (tx) => {
      const { result } = await runById(tx, run.id, { forUpdate: true });
      await writeResult(tx, run.id, { ...result, ...resultOfSteps(ended), ...kept });
    });
    return remarks.length > 0 ? remarks.join('; ') : null;
  },
});

async function advance(given: PackageRun, work: PlannedWork): Promise<RunOutcome | Pending> {
  const { deps, tenant, run, org, unit } = given;
  // What the org has, upon which is planned, is known when those before have ended.
  const turn = await awaitTurn(given, 'packages are changed');
  if (turn) return turn;
  if ((await packageStepsOf(given)).length === 0) {
    const planned = await work.plan(given);
    if (!Array.isArray(planned)) return planned;
    await unit((tx) => planSteps(tx, run.id, planned));
  }
  const pending = await advancePackages(given, work);
  if (pending) return pending;
  const steps = await packageStepsOf(given);
  const kept = await keepLines(deps, tenant, run.id, linesOfSteps(steps));
  return { ...outcomeOfSteps(steps), result: { orgUsername: org.username, ...resultOfSteps(steps), ...kept } };
}
