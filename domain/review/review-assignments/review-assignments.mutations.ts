import { environmentByName } from '../../projects/environments/environments.queries.ts';
import { projectInRequest, type ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { LEASE_HOURS_MAX } from '../review-pools/review-pools.mutations.ts';
import { lockPools, poolByTag, poolKeyOf, type PoolRow } from '../review-pools/review-pools.queries.ts';
import { matchedRules } from '../review-rules/review-rules.queries.ts';
import type { RuleCache } from '../review-rules/rule-cache.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import {
  assertMayChange,
  assertMayRequest,
  type AssignmentType,
  hasEnded,
  isActive,
  isOver,
  isPending,
  keyOf,
} from './assignment-rules.ts';
import { assignmentById, assignmentKeyOf, type AssignmentRow, openAssignment } from './review-assignments.queries.ts';
import { insertAssignment, lockAssignment } from './assignment-changes.queries.ts';
import { assignEnvironment, endAssignment, leaseOf, serveLine } from './review-leases.mutations.ts';
import { record } from './assignment-announcements.ts';

export interface AssignmentRequest {
  repositoryIdentifier: string;
  assignmentType: AssignmentType;
  assignmentId: string;
  branch?: string | undefined;
  domains: readonly string[];
  poolTag?: string | undefined;
  environmentName?: string | undefined;
  expirationHours?: number | undefined;
  isImmortal: boolean;
  /** Replaces what the key has or waits for. */
  override: boolean;
  /** False: refuse when nothing is free. */
  wait: boolean;
}

type Target = { ruleId: string | null } & (
  | { pool: PoolRow; environment?: never }
  | { pool?: never; environment: { id: string; name: string; orgUsername: string | null } }
);

/**
 * Assigns an org of a pool, or a dedicated environment; without a free org the request waits for one, after those that
 * wait already. A key that has an assignment keeps it, unless `override` is set: `isNew` is false.
 * Throws `invalid_request`, `forbidden`, `pool_exhausted`.
 */
export async function assign(
  tx: Tx,
  rulesOf: RuleCache,
  request: AssignmentRequest,
): Promise<{ assignment: AssignmentRow; isNew: boolean }> {
  const project = await projectInRequest(tx, request.repositoryIdentifier);
  const { assignmentType, isImmortal, override, wait } = request;
  const subject = { assignmentType, assignmentKey: keyOf(assignmentType, request.assignmentId) };
  assertMayRequest(tx.actor, subject);
  if (isImmortal && tx.actor.role !== 'owner')
    throw new DomainError('forbidden', 'Forbidden - isImmortal requires role: owner');
  const target = await targetOf(tx, rulesOf, project, request);
  assertHours(request, target);
  const key = { projectId: project.id, ...subject };
  const existing = await existingOf(tx, key, target.pool);
  if (existing) {
    if (isOver(leaseOf(existing), tx.now)) await endAssignment(tx, existing, 'expired', null);
    else if (!override) return { assignment: kept(existing, wait), isNew: false };
    else {
      assertMayChange(tx.actor, existing);
      await endAssignment(tx, existing, 'released', 'replaced by another assignment');
    }
  }
  const id = newId();
  const isInserted = await insertAssignment(tx, {
    id,
    ...key,
    branch: request.branch ?? null,
    domains: request.domains,
    targetType: target.pool ? 'pool' : 'environment',
    targetName: target.pool ? target.pool.tag : target.environment.name,
    poolId: target.pool?.id ?? null,
    environmentId: target.environment?.id ?? null,
    ruleId: target.ruleId,
    expirationHours: request.expirationHours ?? null,
    isImmortal,
  });
  if (!isInserted) {
    // Somebody else requested it for the same key at the same time.
    if (override) return assign(tx, rulesOf, request);
    const other = await openAssignment(tx, key);
    if (!other) throw new DomainError('unavailable', 'The request conflicted with a concurrent request; try again');
    return { assignment: kept(other, wait), isNew: false };
  }
  const served = target.pool
    ? await serveLine(tx, target.pool, id)
    : await assignEnvironment(tx, id, target.environment.orgUsername);
  const assignment = served ?? (await assignmentById(tx, id));
  if (isPending(assignment.state)) {
    if (!wait) throw exhausted(assignment);
    record(tx, assignment, 'requested', 'Requested an org for');
    tx.after('reviewAssignment', assignmentKeyOf(assignment));
  }
  // A pool that makes no orgs has nothing to do for one that was served.
  if (target.pool && (target.pool.minAvailable > 0 || !served)) tx.after('reviewPool', poolKeyOf(target.pool));
  return { assignment, isNew: true };
}

/** What a repeated request gets. Throws `pool_exhausted` for one that does not want to wait. */
function kept(assignment: AssignmentRow, wait: boolean): AssignmentRow {
  if (!wait && !isActive(assignment.state)) throw exhausted(assignment);
  return assignment;
}

const exhausted = ({ targetName }: AssignmentRow) =>
  new DomainError('pool_exhausted', `No org of the pool ${targetName} is free`);

/** What the key has or waits for, which nobody else changes until this transaction ends, as the line of the pool. */
async function existingOf(
  tx: Tx,
  key: Parameters<typeof openAssignment>[1],
  pool: PoolRow | undefined,
): Promise<AssignmentRow | undefined> {
  const seen = await openAssignment(tx, key);
  await lockPools(tx, [pool?.id, seen?.poolId]);
  const existing = await openAssignment(tx, key);
  if (!existing) return undefined;
  // Somebody else has replaced it meanwhile.
  if (existing.id !== seen?.id && existing.poolId !== pool?.id) await lockPools(tx, [existing.poolId]);
  await lockAssignment(tx, existing.id);
  const now = await assignmentById(tx, existing.id);
  return hasEnded(now.state) ? undefined : now;
}

/** Throws `invalid_request` for a lease that is longer than the pool allows. */
function assertHours({ expirationHours, isImmortal }: AssignmentRequest, { pool }: Target): void {
  if (expirationHours === undefined) return;
  if (isImmortal) throw invalidField('expirationHours', 'is not for an assignment that is immortal');
  const max = pool?.maxLeaseHours ?? LEASE_HOURS_MAX;
  if (expirationHours > max) throw invalidField('expirationHours', `must be at most ${max}, as the pool says`);
}

/** What a request names, else what the best rule leads to. Throws `invalid_request`. */
async function targetOf(
  tx: Tx,
  rulesOf: RuleCache,
  project: ProjectFacts,
  { poolTag, environmentName, branch, domains }: AssignmentRequest,
): Promise<Target> {
  if (poolTag !== undefined && environmentName !== undefined)
    throw invalidField('environmentName', 'must be absent where poolTag is given');
  if (poolTag !== undefined) return { pool: await activePool(tx, project, poolTag), ruleId: null };
  if (environmentName !== undefined)
    return { environment: await activeEnvironment(tx, project, environmentName), ruleId: null };
  const { matches } = await matchedRules(tx, rulesOf, project.id, { branch, domains }, 1);
  const best = matches[0]?.rule;
  if (!best)
    throw invalidField('branch', 'No rule matches: name a pool or an environment, or add a rule for this branch');
  const { id: ruleId } = best;
  if (best.poolTag !== null) return { pool: await activePool(tx, project, best.poolTag), ruleId };
  return { environment: await activeEnvironment(tx, project, best.environmentName ?? ''), ruleId };
}

async function activePool(tx: Tx, project: ProjectFacts, tag: string): Promise<PoolRow> {
  const pool = await poolByTag(tx, project.id, tag);
  if (!pool) throw invalidField('poolTag', `The repository has no pool ${tag}`);
  if (!pool.isActive) throw invalidField('poolTag', `The pool ${tag} is not active`);
  return pool;
}

async function activeEnvironment(tx: Tx, project: ProjectFacts, name: string) {
  const environment = await environmentByName(tx, project.id, name);
  if (!environment) throw invalidField('environmentName', `The repository has no environment ${name}`);
  if (!environment.isActive) throw invalidField('environmentName', `The environment ${name} is not active`);
  const { id, orgUsername = null } = environment;
  return { id, name, orgUsername };
}
