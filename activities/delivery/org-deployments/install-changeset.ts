import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { wishOf } from '../../../domain/delivery/org-deployments/deploy-order-rules.ts';
import { withDefaults } from '../../../domain/delivery/org-deployments/deploy-settings-rules.ts';
import { DEPLOY, VALIDATE } from '../../../domain/delivery/org-deployments/source-of-run.ts';
import { isEnded } from '../../../domain/delivery/org-steps/org-step-rules.ts';
import { planSteps, type StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { deploySettingsOf } from '../../../domain/projects/environments/environments.queries.ts';
import type { FollowedOperation, Pending } from '../flows/operations.activities.ts';
import { followInOrg } from '../org-steps/act-in-org.ts';
import { awaitTurn } from '../org-steps/await-turn.ts';
import { inUnit, move, type OrgWork } from '../org-steps/org-work.ts';
import { advanceSource, cancelSource, whyElsewhere } from './install-artifacts.ts';
import { LOOK_AT } from './plan-deployment.ts';
import { type RetrieveIntent, retrieveStep } from './retrieve-step.ts';

const RETRIEVE = 'Retrieve the change set';

/** Retrieves a change set from the org in which it was made, and deploys it to another. */
export const installChangeset: FollowedOperation = {
  advance(deps, tenant, run, signal) {
    return followInOrg(deps, tenant, run, { signal, lookAt: LOOK_AT }, async (org) => {
      const work = { deps, tenant, run, org };
      const [retrieve, deploy] = await planned(work);
      if (!retrieve || !deploy) throw new Error(`the run ${run.id} has no steps`);
      const elsewhere = await whyElsewhere(work, deploy);
      if (elsewhere !== null) return { status: 'failed', error: elsewhere };
      if (!isEnded(retrieve.state)) return retrieveStep(work, retrieve, signal);
      // Others have their turn while it is retrieved, which changes nothing.
      const turn = retrieve.state === 'succeeded' ? await awaitTurn(work, 'the run deploys') : undefined;
      if (turn && 'status' in turn && deploy.state === 'planned')
        await move(work, deploy, { state: 'cancelled', detail: 'not begun' });
      return turn ?? marked(retrieve, await advanceSource(work, retrieve, deploy, signal));
    });
  },

  cancel: cancelSource,
};

async function planned(work: OrgWork): Promise<StepRow[]> {
  const { run, org } = work;
  const { sourceOrg, changeSetName } = run.payload;
  return inUnit(work, async (tx) => {
    const wish = wishOf(withDefaults(run.payload, await deploySettingsOf(tx, run.environmentId)));
    const { validateOnly: checkOnly, testLevel, tests, ignoreWarnings } = wish;
    return planSteps(tx, run.id, [
      { name: RETRIEVE, orgId: null, intent: { sourceOrg, changeSetName } },
      {
        name: checkOnly ? VALIDATE : DEPLOY,
        orgId: org.orgId,
        intent: { checkOnly, testLevel, tests, ignoreWarnings },
      },
    ]);
  });
}

/** No real org has shown yet that a change set is deployed so. */
function marked({ intent }: StepRow, next: RunOutcome | Pending): RunOutcome | Pending {
  if ('againInSeconds' in next) return next;
  const { sourceOrg, changeSetName } = intent as unknown as RetrieveIntent;
  return { ...next, result: { ...next.result, sourceOrg, changeSetName, isUnconfirmed: true } };
}
