import type { PreparedPool } from '../../../domain/review/review-pools/prepared-pools.ts';
import type { RegisteredOrg } from '../../../domain/review/review-pools/pool-parts.ts';
import { type StepRow, stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { type Actor, systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Pending } from '../../delivery/flows/operations.activities.ts';
import type { ActedOrg } from '../../delivery/org-steps/act-in-org.ts';
import { inUnit, type OrgWork } from '../../delivery/org-steps/org-work.ts';

/** A run at work in the dev hub of its pool. */
export interface PoolWork extends OrgWork, Pick<PreparedPool, 'pool' | 'recipe'> {
  signal: AbortSignal;
}

/** What a part has come to: when to look again; undefined: its step has ended. */
export type PartNext = Pending | undefined;

/** The steps of a run, as they are now. */
export const stepsOf = (work: PoolWork): Promise<StepRow[]> => inUnit(work, (tx) => stepsOfRun(tx, work.run.id));

/** In the name of the run itself, as its command would act: what it does to the pool is the run's. */
export const runActor = (tenant: TenantKey, runId: string): Actor => ({
  ...systemActor(tenant, 'flow'),
  type: 'run',
  id: runId,
  email: `run:${runId}`,
});

/** An org that was made and registered, with its calls. */
export const madeOrg = ({ deps, tenant, signal }: PoolWork, org: RegisteredOrg): ActedOrg => ({
  ...org,
  calls: deps.crm.connections.callOrg({ ...tenant, orgId: org.orgId }, { isRun: true, signal }),
});
