import { failureText } from '../../../domain/orgs/crm-orgs/tokens/org-failure-rules.ts';
import { removeOrg } from '../../../domain/orgs/crm-orgs/crm-orgs.mutations.ts';
import { orgByUsername } from '../../../domain/orgs/crm-orgs/crm-orgs.queries.ts';
import { intentOf, isOpen, partOf, registeredOf } from '../../../domain/review/review-pools/pool-parts.ts';
import { setInstanceState } from '../../../domain/review/review-pools/review-instances.mutations.ts';
import { liveInstance } from '../../../domain/review/review-pools/review-instances.queries.ts';
import { moveStep, type StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import { PASSES } from '../../delivery/org-steps/act-in-org.ts';
import { answered, OrgCallFailed } from '../../delivery/org-steps/org-call-failed.ts';
import { move } from '../../delivery/org-steps/org-work.ts';
import { type PartNext, type PoolWork, runActor } from './pool-work.ts';

/** Deletes an org of which a part has failed, and ends what is left of its steps. @param why for the pool. */
export async function discardOrg(work: PoolWork, steps: readonly StepRow[], why: string): Promise<void> {
  const created = partOf(steps, 'create');
  const signupId = created?.externalId ?? null;
  const without = created?.state === 'unknown' ? 'whether there is an org is not known' : 'there is nothing to delete';
  const sandbox = partOf(steps, 'sandbox');
  const detail = sandbox
    ? `a sandbox ${intentOf(sandbox).sandboxName ?? ''} stays in production: the platform deletes none on its first day`
    : signupId === null
      ? without
      : await deletedOrg(work, signupId);
  const made = registeredOf(steps);
  const { deps, tenant, run, pool } = work;
  await deps.actingAs(runActor(tenant, run.id))(async (tx) => {
    if (made) await forget(tx, pool.id, made.username, { state: 'failed', reason: why, isKept: sandbox !== undefined });
    for (const step of steps.filter(isOpen)) await moveStep(tx, step.id, { state: 'cancelled', detail });
  });
}

/** Deletes the org of a signup; answers what became of it, for people. */
async function deletedOrg({ org }: PoolWork, signupId: string): Promise<string> {
  const deleted = await org.calls.deleteScratchOrg(signupId);
  if (deleted.isOk) return deleted.value ? 'the scratch org was deleted' : 'the dev hub has no such active org';
  if (PASSES[deleted.kind] || deleted.kind === 'auth_failed') throw new OrgCallFailed(deleted);
  return `${failureText('the scratch org could not be deleted', deleted)}: delete it in the dev hub`;
}

async function forget(
  tx: Tx,
  poolId: string,
  username: string,
  { isKept = false, ...to }: { state: 'failed' | 'expired'; reason: string; isKept?: boolean },
): Promise<void> {
  const instance = await liveInstance(tx, username);
  if (instance?.poolId === poolId) await setInstanceState(tx, poolId, instance.id, to);
  const registered = isKept ? undefined : await orgByUsername(tx, username);
  if (registered) await removeOrg(tx, registered.id);
}

/** Deletes an org that a new one takes the place of. */
export async function retireOrg(work: PoolWork, step: StepRow): Promise<PartNext> {
  const { deps, tenant, run, pool, org } = work;
  const { username = '' } = intentOf(step);
  const instance = await liveInstance(deps.reads.as(runActor(tenant, run.id)), username);
  if (instance?.poolId !== pool.id || instance.state !== 'refreshing') {
    await move(work, step, { state: 'skipped', detail: 'it is not to be refreshed any more' });
    return undefined;
  }
  const found = answered(await org.calls.findScratchOrg(username));
  const detail = found === null ? 'the dev hub does not know it' : await deletedOrg(work, found.id);
  await deps.actingAs(runActor(tenant, run.id))(async (tx) => {
    await forget(tx, pool.id, username, { state: 'expired', reason: 'a new org takes its place' });
    await moveStep(tx, step.id, { state: 'succeeded', detail });
  });
  return undefined;
}
