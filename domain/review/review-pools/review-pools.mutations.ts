import { LockMode } from '@mikro-orm/core';
import { findRun } from '../../delivery/flows/flow-runs.queries.ts';
import { isFinal } from '../../delivery/flows/run-status-rules.ts';
import { Pipeline } from '../../projects/policies/pipeline.schemas.ts';
import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { DomainError, invalidField, notFound, versionConflict } from '../../kernel/shared/errors.ts';
import { fieldErrors, PARSING } from '../../kernel/shared/input-errors.ts';
import { definedMembers, type Patch } from '../../kernel/shared/merge-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { ReviewPool } from './review-pools.entities.ts';
import { newOrgsOf, recipeOf } from './pool-recipe.schemas.ts';
import { countUsers, lockPool, poolById, poolByTag, poolKeyOf, type PoolRow } from './review-pools.queries.ts';

/** Defaults of leases, in hours. */
export const LEASE_HOURS = 24;
export const LEASE_HOURS_MAX = 720;

type Settings = Pick<
  ReviewPool,
  'minAvailable' | 'maxInstances' | 'leaseHours' | 'maxLeaseHours' | 'onRelease' | 'definition' | 'isActive'
>;
export type NewReviewPool = Settings & Pick<ReviewPool, 'tag' | 'type'>;

/** Adds a pool to a project. Throws `already_exists` and `invalid_request`. */
export async function createPool(tx: Tx, project: ProjectFacts, input: NewReviewPool): Promise<PoolRow> {
  assertSettings(input);
  if (await poolByTag(tx, project.id, input.tag))
    throw new DomainError('already_exists', `The repository already has a pool ${input.tag}`);
  const pool = tx.em.create(ReviewPool, {
    ...input,
    tenantId: tx.tenantId,
    projectId: project.id,
    createdBy: tx.actor.email,
    updatedBy: tx.actor.email,
  });
  await tx.em.flush();
  const row = await poolById(tx, pool.id);
  audit(tx, 'created', row, { after: stateOf(row) });
  tx.after('reviewPool', poolKeyOf(row));
  return row;
}

/** Throws `not_found`, `invalid_request`, and `version_conflict` when `version` is not the current one. */
export async function updatePool(
  tx: Tx,
  id: string,
  { version, ...fields }: Patch<Settings> & { version?: number | undefined },
): Promise<PoolRow> {
  const pool = await tx.em.findOne(ReviewPool, { tenantId: tx.tenantId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!pool) throw notFound('The pool');
  if (version !== undefined && version !== pool.version) throw versionConflict('The pool', pool.version);
  const before = await poolById(tx, id);
  tx.em.assign(pool, { ...definedMembers(fields), updatedBy: tx.actor.email }, { mergeObjectProperties: false });
  assertSettings(pool);
  await tx.em.flush();
  const after = await poolById(tx, id);
  audit(tx, 'updated', after, { before: stateOf(before), after: stateOf(after) });
  tx.after('reviewPool', poolKeyOf(after));
  return after;
}

/**
 * Removes a pool with its orgs. Throws `not_found`, and `invalid_transition` while rules or open assignments name it, or a run
 * makes orgs for it, which nobody would delete without the pool.
 */
export async function removePool(tx: Tx, id: string): Promise<void> {
  await lockPool(tx, id);
  const before = await poolById(tx, id);
  const { rules, assigned } = await countUsers(tx, id);
  if (rules > 0)
    throw new DomainError(
      'invalid_transition',
      rules === 1 ? 'A rule leads to the pool: change it first' : `${rules} rules lead to the pool: change them first`,
    );
  if (assigned > 0)
    throw new DomainError(
      'invalid_transition',
      `${assigned} assignments have an org of the pool or wait for one: release them first`,
    );
  const run = before.prepareRunId === null ? undefined : await findRun(tx, before.prepareRunId);
  if (run && !isFinal(run.status))
    throw new DomainError('invalid_transition', `The run ${run.id} makes orgs for the pool: cancel it first`);
  await tx.db.deleteFrom('review_pool').where('tenantId', '=', tx.tenantId).where('id', '=', id).execute();
  audit(tx, 'deleted', before, { before: stateOf(before) });
}

const TYPE_OF = { scratch: 'SCRATCH_ORG', sandbox: 'SANDBOX' } as const;

/**
 * Throws `invalid_request` for limits that contradict each other, and for a definition of orgs, or a pipeline in it, that no
 * run takes.
 */
function assertSettings({
  type,
  minAvailable,
  maxInstances,
  leaseHours,
  maxLeaseHours,
  onRelease,
  definition,
}: Settings & Pick<ReviewPool, 'type'>): void {
  if (minAvailable > maxInstances) throw invalidField('minAvailable', 'must be at most maxInstances');
  if (leaseHours > maxLeaseHours) throw invalidField('leaseHours', 'must be at most maxLeaseHours');
  if (definition.newOrgs !== undefined) recipeOf(definition);
  const newOrgs = newOrgsOf(definition);
  if (newOrgs !== undefined && newOrgs !== 'command' && type !== TYPE_OF[newOrgs])
    throw invalidField('definition/newOrgs', `makes orgs of another type than the pool has, ${type}`);
  if (newOrgs === 'sandbox' && onRelease === 'refresh')
    throw invalidField('onRelease', 'sandboxes that the service makes are discarded or reused, and not refreshed');
  if (definition.pipeline === undefined) return;
  const parsed = Pipeline.safeParse(definition.pipeline, PARSING);
  if (parsed.success) return;
  const fields = [...fieldErrors('definition/pipeline', parsed.error.issues)];
  throw new DomainError('invalid_request', '`definition.pipeline` is not a valid pipeline', { fields });
}

/** What of a pool stands in the audit trail. */
const stateOf = ({ tag, type, minAvailable, maxInstances, leaseHours, maxLeaseHours, ...rest }: PoolRow) => ({
  tag,
  type,
  minAvailable,
  maxInstances,
  leaseHours,
  maxLeaseHours,
  onRelease: rest.onRelease,
  definition: rest.definition,
  isActive: rest.isActive,
});

const audit = (
  tx: Tx,
  action: 'created' | 'updated' | 'deleted',
  { id, tag, repositoryIdentifier }: PoolRow,
  change: { before?: object; after?: object },
) =>
  tx.audit({
    source: 'environment',
    action: `review_pool.${action}`,
    entityType: 'review_pool',
    entityId: id,
    repositoryIdentifier,
    summary: `Review pool ${tag} ${action}`,
    ...change,
  });
