import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { moveStep, stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { displayOf } from '../../../domain/delivery/flows/run-status-rules.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';
import type { Pending } from '../flows/operations.activities.ts';

/**
 * The outcome of a run that ends although its org may still do what it was asked for, as where the credential is refused
 * meanwhile: the run says so, and its step is one whose end nobody knows.
 * @param lookAt what a person looks at.
 */
export async function withLeftOpen(
  { actingAs, reads }: Pick<Deps, 'actingAs' | 'reads'>,
  tenant: TenantKey,
  run: RunContext,
  next: RunOutcome | Pending,
  lookAt: string,
): Promise<RunOutcome | Pending> {
  if ('againInSeconds' in next || displayOf(next.status) !== 'Failed' || next.code !== undefined) return next;
  const actor = systemActor(tenant, 'flow');
  const steps = await stepsOfRun(reads.as(actor), run.id);
  const open = steps.find(({ state }) => state === 'begun' || state === 'asked');
  if (!open) return next;
  const error = `${next.error ?? 'It failed'} What the org began may go on there: look at ${lookAt}.`;
  await actingAs(actor)((tx) => moveStep(tx, open.id, { state: 'unknown', error }));
  return { ...next, error, code: 'unknown_outcome' };
}
