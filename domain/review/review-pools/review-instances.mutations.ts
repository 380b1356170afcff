import { json } from '../../kernel/data/columns.ts';
import { parseAuthUrl } from '../../orgs/crm/auth-url-rules.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { decideMove, isAssigned, isAvailable, isLive, mayMove, type SettableState } from './instance-rules.ts';
import { lockPool, poolById, poolKeyOf, type PoolRow } from './review-pools.queries.ts';
import { countLive, instanceById, type InstanceRow, liveInstance, moveInstance } from './review-instances.queries.ts';

/** The context under which the auth URL of an instance is encrypted. */
export const reviewInstanceContext = (instanceId: string): string => `review-instance:${instanceId}`;

export interface GivenInstance {
  username: string;
  instanceUrl?: string | null | undefined;
  cliAuthUrl?: string | null | undefined;
  expiresAt?: Date | null | undefined;
  metadata?: Record<string, unknown> | undefined;
  state: 'provisioning' | 'available';
}

/**
 * Adds an org to a pool, or brings the one of that username up to date; a new state of it counts unless it is assigned.
 * Throws `not_found`, `invalid_request`, `already_exists` for an org of another pool, `invalid_transition` when the pool
 * is full.
 */
export async function registerInstance(
  tx: Tx,
  encryption: Encryption,
  poolId: string,
  { state, username, ...given }: GivenInstance,
): Promise<{ instance: InstanceRow; isNew: boolean }> {
  if (given.cliAuthUrl) {
    const parsed = parseAuthUrl(given.cliAuthUrl);
    if (!parsed.isOk) throw invalidField('cliAuthUrl', `The auth URL ${parsed.reason}`);
  }
  await lockPool(tx, poolId);
  const pool = await poolById(tx, poolId);
  const found = await liveInstance(tx, username);
  if (found && found.poolId !== poolId)
    throw new DomainError('already_exists', `The org ${username} is in another pool already`);
  const id = found?.id ?? newId();
  const { instanceUrl, expiresAt, metadata, cliAuthUrl } = given;
  const values = {
    ...(instanceUrl !== undefined && { instanceUrl }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(metadata !== undefined && { metadata: json(metadata) }),
    ...(cliAuthUrl !== undefined && {
      cliAuthUrl: cliAuthUrl === null ? null : encryption.encrypt(cliAuthUrl, reviewInstanceContext(id)),
    }),
  };
  if (found) await refreshInstance(tx, found, values, state);
  else {
    if ((await countLive(tx, poolId)) >= pool.maxInstances)
      throw new DomainError('invalid_transition', `The pool has all of its ${pool.maxInstances} orgs`);
    await tx.db
      .insertInto('review_instance')
      .values({
        id,
        tenantId: tx.tenantId,
        projectId: pool.projectId,
        poolId,
        username,
        state,
        preparedBy: runOf(tx),
        ...values,
      })
      .execute();
  }
  const instance = await instanceById(tx, poolId, id);
  audit(tx, found ? 'updated' : 'registered', pool, instance, found);
  tx.after('reviewPool', poolKeyOf(pool));
  return { instance, isNew: !found };
}

/** The run that acts by its token, if one does. */
const runOf = ({ actor }: Tx): string | null => (actor.type === 'run' ? actor.id : null);

async function refreshInstance(
  tx: Tx,
  found: InstanceRow,
  values: object,
  state: 'provisioning' | 'available',
): Promise<void> {
  if (Object.keys(values).length > 0)
    await tx.db
      .updateTable('review_instance')
      .set({ ...values, updatedAt: tx.now })
      .where('tenantId', '=', tx.tenantId)
      .where('id', '=', found.id)
      .execute();
  if (isAvailable(state) && !isAssigned(found.state) && mayMove(found.state, state))
    await moveInstance(tx, found.id, { state, reason: null, preparedBy: runOf(tx) });
}

/**
 * Moves an org of the pool into a state; in the state already, nothing changes. The caller has ended an assignment that
 * has it. Throws `not_found`, `invalid_transition`.
 */
export async function setInstanceState(
  tx: Tx,
  poolId: string,
  id: string,
  { state, reason }: { state: SettableState; reason: string | null },
): Promise<InstanceRow> {
  await lockPool(tx, poolId);
  const pool = await poolById(tx, poolId);
  const before = await instanceById(tx, poolId, id);
  if (!decideMove(before.state, state)) return before;
  await moveInstance(tx, id, { state, reason, ...(isAvailable(state) && { preparedBy: runOf(tx) }) });
  const after = await instanceById(tx, poolId, id);
  audit(tx, 'updated', pool, after, before);
  tx.after('reviewPool', poolKeyOf(pool));
  return after;
}

/** Takes an org out of a pool. Throws `not_found`, and `invalid_transition` for one that is assigned. */
export async function removeInstance(tx: Tx, poolId: string, id: string): Promise<void> {
  await lockPool(tx, poolId);
  const pool = await poolById(tx, poolId);
  const instance = await instanceById(tx, poolId, id);
  if (isAssigned(instance.state))
    throw new DomainError('invalid_transition', 'The org is assigned: release its assignment first');
  await tx.db.deleteFrom('review_instance').where('tenantId', '=', tx.tenantId).where('id', '=', id).execute();
  audit(tx, 'removed', pool, undefined, instance);
  if (isLive(instance.state)) tx.after('reviewPool', poolKeyOf(pool));
}

/** What of an org stands in the audit trail. */
const stateOf = ({ username, instanceUrl, expiresAt, state, reason }: InstanceRow) => ({
  username,
  instanceUrl,
  expiresAt,
  state,
  reason,
});

function audit(
  tx: Tx,
  action: 'registered' | 'updated' | 'removed',
  { tag, repositoryIdentifier }: PoolRow,
  after: InstanceRow | undefined,
  before: InstanceRow | undefined,
): void {
  const instance = after ?? before;
  tx.audit({
    source: 'environment',
    action: `review_instance.${action}`,
    entityType: 'review_instance',
    entityId: instance?.id ?? null,
    repositoryIdentifier,
    summary: `Org ${instance?.username} of review pool ${tag} ${action}`,
    ...(before && { before: stateOf(before) }),
    ...(after && { after: stateOf(after) }),
  });
}
