import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { moveStep, type StepMove, type StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import type { Deps } from '../../deps.ts';
import type { ActedOrg } from '../org-steps/act-in-org.ts';

/** A run that deploys to an org. */
export interface DeployWork {
  deps: Deps;
  tenant: TenantKey;
  run: RunContext;
  org: ActedOrg;
}

/** A unit of work in the name of the run's own service. */
export const inUnit = <Value>(
  { deps, tenant }: Pick<DeployWork, 'deps' | 'tenant'>,
  work: (tx: Tx) => Promise<Value>,
) => deps.actingAs(systemActor(tenant, 'flow'))(work);

export const move = async (work: DeployWork, { id }: StepRow, change: StepMove): Promise<void> => {
  await inUnit(work, (tx) => moveStep(tx, id, change));
};
