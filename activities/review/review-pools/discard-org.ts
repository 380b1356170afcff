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
import { LOOK_AT } from './sign-up.ts';

/** What the steps of an org say where nobody can tell whether it was made. */
export const NOT_KNOWN = `it is not known whether there is an org: look at ${LOOK_AT}`;

/** What became of an org, for people. */
interface Discarded {
  detail: string;
  /** It may be there still. */
  isLeft: boolean;
}

/**
 * Deletes an org of which a part has failed, and ends what is left of its steps. Answers what stays behind; null: nothing.
 * @param why for the pool.
 * @param failing the open step that has failed, with what it says: it ends together with the others.
 */
export async function discardOrg(
  work: PoolWork,
  steps: readonly StepRow[],
  why: string,
  failing?: { step: StepRow; error: string },
): Promise<string | null> {
  const { detail, isLeft } = await discarded(work, steps);
  const made = registeredOf(steps);
  const isKept = partOf(steps, 'sandbox') !== undefined;
  const { deps, tenant, run, pool } = work;
  await deps.actingAs(runActor(tenant, run.id))(async (tx) => {
    if (made) await forget(tx, pool.id, made.username, { state: 'failed', reason: why, isKept });
    for (const step of steps.filter(isOpen)) {
      const isFailing = step.id === failing?.step.id;
      const end = isFailing ? ({ state: 'failed', error: failing.error } as const) : ({ state: 'cancelled' } as const);
      await moveStep(tx, step.id, { ...end, detail, ...(isLeft && { result: { ...step.result, isLeft } }) });
    }
  });
  const [first] = steps;
  return isLeft && first ? `Org ${intentOf(first).org}: ${detail}` : null;
}

async function discarded(work: PoolWork, steps: readonly StepRow[]): Promise<Discarded> {
  const sandbox = partOf(steps, 'sandbox');
  // One whose run was never begun is not there.
  if (sandbox && sandbox.externalId !== null) {
    const { sandboxName = '' } = intentOf(sandbox);
    const detail = `a sandbox ${sandboxName} stays in production: the platform deletes none on its first day`;
    return { detail, isLeft: true };
  }
  const created = partOf(steps, 'create');
  if (created?.state === 'unknown' && created.externalId === null) return { detail: NOT_KNOWN, isLeft: true };
  const signupId = created?.externalId ?? null;
  return signupId === null ? { detail: 'there is nothing to delete', isLeft: false } : deletedOrg(work, signupId);
}

/** Deletes the org of a signup. */
async function deletedOrg({ org }: PoolWork, signupId: string): Promise<Discarded> {
  const deleted = await org.calls.deleteScratchOrg(signupId);
  if (deleted.isOk) {
    const detail = deleted.value ? 'the scratch org was deleted' : 'the dev hub has no such active org';
    return { detail, isLeft: false };
  }
  if (PASSES[deleted.kind] || deleted.kind === 'auth_failed') throw new OrgCallFailed(deleted);
  const detail = `${failureText('the scratch org could not be deleted', deleted)}: delete it in the dev hub`;
  return { detail, isLeft: true };
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
  // An earlier attempt that was broken off has deleted it where the step has its id.
  if (found === null && step.externalId === null) {
    const error = `${username}: this dev hub does not know it; delete it in the one that made it`;
    await deps.actingAs(runActor(tenant, run.id))(async (tx) => {
      await forget(tx, pool.id, username, { state: 'failed', reason: error, isKept: true });
      await moveStep(tx, step.id, { state: 'failed', error });
    });
    return undefined;
  }
  if (found !== null) await move(work, step, { externalId: found.id });
  const { detail, isLeft } =
    found === null ? { detail: 'the scratch org was deleted', isLeft: false } : await deletedOrg(work, found.id);
  await deps.actingAs(runActor(tenant, run.id))(async (tx) => {
    await forget(tx, pool.id, username, { state: 'expired', reason: 'a new org takes its place' });
    await moveStep(tx, step.id, { state: 'succeeded', detail, ...(isLeft && { result: { ...step.result, isLeft } }) });
  });
  return undefined;
}
