import { decideMove, endsAssignment, isAssigned, type SettableState } from '../review-pools/instance-rules.ts';
import { type GivenInstance, registerInstance, setInstanceState } from '../review-pools/review-instances.mutations.ts';
import { lockPool, poolById } from '../review-pools/review-pools.queries.ts';
import { instanceById, type InstanceRow } from '../review-pools/review-instances.queries.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import type { Tx } from '../../unit-of-work.ts';
import { endAssignmentOfInstance, followOrgEnd, serveLine } from './review-leases.mutations.ts';

/**
 * Moves an org of a pool into a state. One that has ended or failed ends the assignment that has it; one that becomes
 * available goes to the first who waits. Throws `not_found`, `invalid_transition`.
 */
export async function changeInstance(
  tx: Tx,
  poolId: string,
  id: string,
  { state, reason }: { state: SettableState; reason: string | null },
): Promise<InstanceRow> {
  await lockPool(tx, poolId);
  const before = await instanceById(tx, poolId, id);
  decideMove(before.state, state);
  await setInstanceState(tx, poolId, id, { state, reason });
  if (isAssigned(before.state) && endsAssignment(state))
    await endAssignmentOfInstance(tx, id, state, reason ?? `the org has ${state}`);
  await serveLine(tx, await poolById(tx, poolId));
  return instanceById(tx, poolId, id);
}

/**
 * Adds an org to a pool, or brings it up to date; one that is available goes to the first who waits, and the lease of one
 * that is assigned follows its end. Throws as `registerInstance`.
 */
export async function addInstance(
  tx: Tx,
  encryption: Encryption,
  poolId: string,
  given: GivenInstance,
): Promise<{ instance: InstanceRow; isNew: boolean }> {
  const { instance, isNew } = await registerInstance(tx, encryption, poolId, given);
  const pool = await poolById(tx, poolId);
  if (isAssigned(instance.state))
    await followOrgEnd(tx, pool, instance.id, instance.expiresAt === null ? null : new Date(instance.expiresAt));
  await serveLine(tx, pool);
  return { instance: await instanceById(tx, poolId, instance.id), isNew };
}
