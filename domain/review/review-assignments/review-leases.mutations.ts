import { endSessionOfAssignment } from '../browser-sessions/sessions.mutations.ts';
import { lockPool, poolById, poolKeyOf, type PoolRow } from '../review-pools/review-pools.queries.ts';
import { instanceById, moveInstance } from '../review-pools/review-instances.queries.ts';
import { stateAfterRelease } from '../review-pools/instance-rules.ts';
import { LEASE_HOURS, LEASE_HOURS_MAX } from '../review-pools/review-pools.mutations.ts';
import { systemActor } from '../../kernel/shared/actor.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import {
  type AssignmentEnd,
  assertMayChange,
  endWithOrg,
  extendedEnd,
  hasEnded,
  isActive,
  isOver,
  type Lease,
  leaseEnd,
  mayMove,
} from './assignment-rules.ts';
import { claimInstance } from './claimed-instances.queries.ts';
import {
  assignmentById,
  assignmentKeyOf,
  type AssignmentRow,
  assignmentOfInstance,
  firstInLine,
} from './review-assignments.queries.ts';
import { activate, lockAssignment, writeEnd, writeLeaseEnd, writeOrgEnd } from './assignment-changes.queries.ts';
import { eventOf, record, recordAssigned } from './assignment-announcements.ts';

export const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

export const leaseOf = ({ state, assignedAt, expiresAt, orgExpiresAt }: AssignmentRow): Lease => ({
  state,
  assignedAt: dateOf(assignedAt),
  expiresAt: dateOf(expiresAt),
  orgEndsAt: dateOf(orgExpiresAt),
});

/** An assignment that nobody else changes until this transaction ends, and neither the line for its pool. Throws `not_found`. */
export async function lockedAssignment(tx: Tx, id: string): Promise<AssignmentRow> {
  const { poolId } = await assignmentById(tx, id);
  // In this order everywhere: whoever has the pool may change its assignments.
  if (poolId !== null) await lockPool(tx, poolId);
  await lockAssignment(tx, id);
  return assignmentById(tx, id);
}

/**
 * Gives available orgs of a pool to those who wait, in the order of their requests. The caller has the lock of the pool.
 * @param own the request of the caller, the last in line, which is recorded in their name; others in that of the service.
 * @returns the caller's own assignment, when it was served.
 */
export async function serveLine(tx: Tx, pool: PoolRow, own?: string): Promise<AssignmentRow | undefined> {
  for (;;) {
    const next = await firstInLine(tx, pool.id);
    if (!next) return undefined;
    const { id, isImmortal, expirationHours } = next;
    const hours = expirationHours ?? pool.leaseHours;
    const wanted = leaseEnd(tx.now, { hours, isImmortal, orgEndsAt: null });
    const org = await claimInstance(tx, pool.id, wanted?.toISOString() ?? 'infinity');
    if (!org) return undefined;
    const orgExpiresAt = dateOf(org.expiresAt);
    await activate(tx, id, {
      instanceId: org.id,
      orgUsername: org.username,
      orgExpiresAt,
      assignedAt: tx.now,
      expiresAt: leaseEnd(tx.now, { hours, isImmortal, orgEndsAt: orgExpiresAt }),
    });
    const served = await assignmentById(tx, id);
    recordAssigned(id === own ? tx : tx.inNameOf({ actor: systemActor(tx.actor, 'review-pool') }), served);
    if (id === own) return served;
  }
}

/** Gives an assignment its dedicated environment, of which others may have one, too. */
export async function assignEnvironment(tx: Tx, id: string, orgUsername: string | null): Promise<AssignmentRow> {
  const { expirationHours, isImmortal } = await assignmentById(tx, id);
  const lease = { hours: expirationHours ?? LEASE_HOURS, isImmortal, orgEndsAt: null };
  await activate(tx, id, {
    instanceId: null,
    orgUsername,
    orgExpiresAt: null,
    assignedAt: tx.now,
    expiresAt: leaseEnd(tx.now, lease),
  });
  const assigned = await assignmentById(tx, id);
  recordAssigned(tx, assigned);
  return assigned;
}

/**
 * Has the lease go on for so many hours from now. Throws `not_found`, `forbidden`, and `invalid_transition` for an
 * assignment that is not active, or for longer than the pool allows.
 */
export async function extendAssignment(tx: Tx, id: string, hours: number): Promise<AssignmentRow> {
  const assignment = await lockedAssignment(tx, id);
  assertMayChange(tx.actor, assignment);
  const pool = assignment.poolId === null ? undefined : await poolById(tx, assignment.poolId);
  const maxLeaseHours = pool?.maxLeaseHours ?? LEASE_HOURS_MAX;
  const expiresAt = extendedEnd(leaseOf(assignment), tx.now, { hours, maxLeaseHours });
  await writeLeaseEnd(tx, id, expiresAt);
  const extended = await assignmentById(tx, id);
  record(tx, extended, 'extended', 'Extended the lease of', assignment);
  tx.after('reviewAssignment', assignmentKeyOf(extended));
  return extended;
}

/** Gives back what was assigned, or leaves the line; one that has ended stays as it is. Throws `not_found`, `forbidden`. */
export async function releaseAssignment(tx: Tx, id: string, reason: string | null = null): Promise<AssignmentRow> {
  const assignment = await lockedAssignment(tx, id);
  assertMayChange(tx.actor, assignment);
  if (hasEnded(assignment.state)) return assignment;
  return endAssignment(tx, assignment, isOver(leaseOf(assignment), tx.now) ? 'expired' : 'released', reason);
}

/** Ends an assignment; its org becomes what the pool makes of it, and goes to the next who waits. The pool is locked. */
export async function endAssignment(
  tx: Tx,
  before: AssignmentRow,
  state: AssignmentEnd,
  reason: string | null,
): Promise<AssignmentRow> {
  if (!mayMove(before.state, state))
    throw new DomainError('invalid_transition', `The assignment cannot become ${state}: it is ${before.state}`);
  await writeEnd(tx, before.id, { state, endedAt: tx.now, reason });
  const after = await assignmentById(tx, before.id);
  record(tx, after, state, `${END_WORDS[state]} the assignment of`, before);
  if (isActive(before.state))
    emitEvent(tx, state === 'expired' ? 'review_environment.expired' : 'review_environment.released', eventOf(after));
  tx.after('reviewAssignment', assignmentKeyOf(after));
  if (isActive(before.state)) await endSessionOfAssignment(tx, before.id);
  if (before.poolId !== null) await returnToPool(tx, before);
  return after;
}

const END_WORDS: Record<AssignmentEnd, string> = {
  released: 'Released',
  expired: 'The lease expired of',
  failed: 'The org failed of',
};

async function returnToPool(tx: Tx, { poolId, instanceId }: AssignmentRow): Promise<void> {
  if (poolId === null) return;
  const pool = await poolById(tx, poolId);
  if (instanceId !== null) {
    const org = await instanceById(tx, poolId, instanceId);
    const isEnded = org.expiresAt !== null && new Date(org.expiresAt) <= tx.now;
    // One that builders took out of the pool stays out of it.
    if (org.state === 'assigned')
      await moveInstance(tx, instanceId, {
        state: isEnded ? 'expired' : stateAfterRelease(pool.onRelease),
        reason: isEnded ? 'the org has ended' : 'its assignment has ended',
      });
  }
  await serveLine(tx, pool);
  tx.after('reviewPool', poolKeyOf(pool));
}

/**
 * Ends the assignment that has an org, since the org has ended or failed. The caller has the lock of its pool, and moves
 * the org afterwards.
 */
export async function endAssignmentOfInstance(
  tx: Tx,
  instanceId: string,
  state: 'expired' | 'failed',
  reason: string,
): Promise<void> {
  const id = await assignmentOfInstance(tx, instanceId);
  if (id === undefined) return;
  await lockAssignment(tx, id);
  const before = await assignmentById(tx, id);
  if (isActive(before.state)) await endAssignment(tx, before, state, reason);
}

/** Has the lease of an org follow the end of the org, which builders changed. The caller has the lock of the pool. */
export async function followOrgEnd(tx: Tx, pool: PoolRow, instanceId: string, orgEndsAt: Date | null): Promise<void> {
  const id = await assignmentOfInstance(tx, instanceId);
  if (id === undefined) return;
  await lockAssignment(tx, id);
  const before = await assignmentById(tx, id);
  const lease = leaseOf(before);
  if (!isActive(before.state) || lease.orgEndsAt?.getTime() === orgEndsAt?.getTime()) return;
  const { isImmortal, expirationHours } = before;
  const expiresAt = endWithOrg(lease, orgEndsAt, { hours: expirationHours ?? pool.leaseHours, isImmortal });
  await writeOrgEnd(tx, id, { orgExpiresAt: orgEndsAt, expiresAt });
  const after = await assignmentById(tx, id);
  record(tx, after, 'adjusted', 'The org ends at another time, and with it the lease of', before);
  tx.after('reviewAssignment', assignmentKeyOf(after));
}
