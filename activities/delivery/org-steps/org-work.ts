import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { moveStep, type StepMove, type StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import type { Deps } from '../../deps.ts';
import type { ActedOrg } from './act-in-org.ts';

/** A run at work in its org. */
export interface OrgWork {
  deps: Deps;
  tenant: TenantKey;
  run: RunContext;
  org: ActedOrg;
  /** What the output says before what is done next. */
  linesBefore?: readonly string[];
}

/** A unit of work in the name of the run's own service. */
export const inUnit = <Value>({ deps, tenant }: Pick<OrgWork, 'deps' | 'tenant'>, work: (tx: Tx) => Promise<Value>) =>
  deps.actingAs(systemActor(tenant, 'flow'))(work);

/** Moves a step on, unless it has ended meanwhile. */
export const move = async (
  work: Pick<OrgWork, 'deps' | 'tenant'> & Partial<Pick<OrgWork, 'run'>>,
  { id, runId }: StepRow,
  change: StepMove,
): Promise<void> => {
  await inUnit(work, async (tx) => {
    await moveStep(tx, id, change);
    tx.touch('flow_run', runId, work.run?.repositoryIdentifier);
  });
};
