import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import { isOneOf, secondsAgo } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { newId } from '../../kernel/shared/ids.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { VerificationPolicy } from '../../projects/policies/verification-policy-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { INSTALLING_STATUSES } from '../deployments/deployments.queries.ts';
import {
  type CheckState,
  checkStatesBefore,
  OPEN_STATES,
  statesBefore,
  type VerificationState,
} from './verification-rules.ts';
import type { Reaction } from './verifications.entities.ts';

/** How an environment verifies deployments; null: it does not. With what it verifies of a domain now. */
export async function verificationOfEnvironment(
  { db, tenantId }: Reads,
  environmentId: string,
  domain: string,
): Promise<{ verification: VerificationPolicy | null; open: string[] }> {
  const found = await db
    .selectFrom('environment as e')
    .where('e.tenantId', '=', tenantId)
    .where('e.id', '=', environmentId)
    .select((eb) => [
      'e.verification',
      eb
        .selectFrom('verification as v')
        .innerJoin('release_deployment as d', (join) =>
          join.onRef('d.tenantId', '=', 'v.tenantId').onRef('d.id', '=', 'v.deploymentId'),
        )
        .whereRef('v.tenantId', '=', 'e.tenantId')
        .whereRef('v.environmentId', '=', 'e.id')
        .where((inner) => isOneOf(inner, 'v.state', OPEN_STATES))
        .where('d.domain', '=', domain)
        .select(sql<string[]>`coalesce(json_agg(v.id), '[]')`.as('ids'))
        .as('open'),
    ])
    .executeTakeFirst();
  return { verification: found?.verification ?? null, open: found?.open ?? [] };
}

/** Adds a verification with its checks. Undefined: one of the deployment goes on. */
export async function insertVerification(
  { db, tenantId }: Tx,
  deployment: { id: string; projectId: string; environmentId: string },
  { checks, onFailure }: VerificationPolicy,
  requestedBy: Actor,
): Promise<string | undefined> {
  // The projects of a limited token stay: what it causes reaches no more than it does.
  const { collections: _c, sessionId: _s, run: _r, ...by } = requestedBy;
  const { id: deploymentId, projectId, environmentId } = deployment;
  const id = newId();
  const made = await db
    .insertInto('verification')
    .values({ id, tenantId, projectId, environmentId, deploymentId, onFailure, requestedBy: json(by) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!made) return undefined;
  const rows = checks.map((check, position) => ({
    id: newId(),
    tenantId,
    verificationId: id,
    position,
    settings: json(check),
  }));
  await db.insertInto('verification_check').values(rows).execute();
  return id;
}

/** Whether something newer than the deployment `d` is installed where that was; what was taken back is not. */
const IS_REPLACED = sql<boolean>`exists (select from release_deployment o
  where o.tenant_id = d.tenant_id and o.environment_id = d.environment_id and o.domain = d.domain
    and o.status in ${INSTALLING_STATUSES} and o.rolled_back_at is null
    and (o.deployed_at, o.created_at, o.id) > (d.deployed_at, d.created_at, d.id))`;

const verifications = ({ db, tenantId }: Reads) =>
  db
    .selectFrom('verification as v')
    .innerJoin('release_deployment as d', (join) =>
      join.onRef('d.tenantId', '=', 'v.tenantId').onRef('d.id', '=', 'v.deploymentId'),
    )
    .innerJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 'v.tenantId').onRef('e.id', '=', 'v.environmentId'),
    )
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'v.tenantId').onRef('p.id', '=', 'v.projectId'))
    .where('v.tenantId', '=', tenantId);

/** A verification with its deployment; undefined: it is gone. It is locked until the end of the transaction. */
export const lockVerification = (tx: Tx, id: string) =>
  verifications(tx)
    .where('v.id', '=', id)
    .forUpdate('v')
    .select([
      'v.id',
      'v.state',
      'v.onFailure',
      'v.requestedBy',
      'v.begunAt',
      'v.deploymentId',
      'v.projectId',
      'v.environmentId',
      'd.candidateId',
      'd.contentDigest',
      sql<string | null>`(select c.commit_sha from release_candidate c where c.tenant_id = d.tenant_id
        and c.id = d.candidate_id and c.content_digest = d.content_digest)`.as('commitSha'),
      'd.domain',
      'd.releaseName',
      'd.status',
      'd.deployedAt',
      'd.executionId',
      'd.reportedBy',
      'd.rolledBackAt',
      'e.name as environmentName',
      'e.orchestrationOrder',
      'p.identifier as repositoryIdentifier',
      sql<boolean>`d.rollback is not null or exists (select from flow_run r
        where r.tenant_id = d.tenant_id and r.id::text = d.execution_id and r.task_type = 'rollback-release')`.as(
        'isRollback',
      ),
      IS_REPLACED.as('isReplaced'),
    ])
    .executeTakeFirst();

export type LockedVerification = NonNullable<Awaited<ReturnType<typeof lockVerification>>>;

/**
 * Whether a run is the rollback that a failed verification asked for, and what was not verified is no longer what is
 * installed.
 */
export async function isOutdatedReaction(reads: Reads, runId: string): Promise<boolean> {
  const found = await verifications(reads)
    .where('v.state', '=', 'failed')
    .where(sql<string>`v.reaction ->> 'executionId'`, '=', runId)
    .select(sql<boolean>`d.rolled_back_at is not null or ${IS_REPLACED}`.as('isOutdated'))
    .executeTakeFirst();
  return found?.isOutdated ?? false;
}

/** The checks of a verification, in their order. */
export const checksOf = ({ db, tenantId }: Reads, verificationId: string) =>
  db
    .selectFrom('verification_check')
    .where('tenantId', '=', tenantId)
    .where('verificationId', '=', verificationId)
    .orderBy('position')
    .select(['id', 'settings', 'state', 'detail', 'isUnknown', 'runId', 'begunAt', 'endedAt'])
    .execute();

export type CheckRow = Awaited<ReturnType<typeof checksOf>>[number];

/** A check with its verification; undefined: it is none. */
export const findCheck = ({ db, tenantId }: Reads, id: string) =>
  db
    .selectFrom('verification_check as c')
    .innerJoin('verification as v', (join) =>
      join.onRef('v.tenantId', '=', 'c.tenantId').onRef('v.id', '=', 'c.verificationId'),
    )
    .where('c.tenantId', '=', tenantId)
    .where('c.id', '=', id)
    .select(['c.id', 'c.verificationId', 'c.settings', 'c.state', 'v.begunAt', 'v.state as verificationState'])
    .executeTakeFirst();

/** Moves a check, unless another attempt has; answers whether it did. */
export async function moveCheck(
  { db, tenantId }: Tx,
  id: string,
  { state, ...more }: { state: CheckState; detail?: string; isUnknown?: boolean; runId?: string },
): Promise<boolean> {
  const isEnd = checkStatesBefore(state).includes('running');
  const moved = await db
    .updateTable('verification_check')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where((eb) => isOneOf(eb, 'state', checkStatesBefore(state)))
    .set({
      state,
      ...more,
      ...(state === 'running' ? { begunAt: sql<string>`now()` } : isEnd && { endedAt: sql<string>`now()` }),
      updatedAt: sql<string>`now()`,
    })
    .executeTakeFirst();
  return moved.numUpdatedRows > 0n;
}

/** Moves a verification, unless another attempt has; answers whether it did. */
export async function moveVerification(
  { db, tenantId }: Tx,
  id: string,
  { state, detail, reaction }: { state: VerificationState; detail?: string; reaction?: Reaction | undefined },
): Promise<boolean> {
  const now = sql<string>`now()`;
  const moved = await db
    .updateTable('verification')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where((eb) => isOneOf(eb, 'state', statesBefore(state)))
    .set({
      state,
      ...(detail !== undefined && { detail }),
      ...(reaction && { reaction: json(reaction) }),
      ...(state === 'running' ? { begunAt: now } : { endedAt: now }),
      updatedAt: now,
    })
    .executeTakeFirst();
  return moved.numUpdatedRows > 0n;
}

/** Notes that a verification goes on. */
export async function touchVerification({ db, tenantId }: Tx, id: string): Promise<void> {
  await db
    .updateTable('verification')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .set({ updatedAt: sql<string>`now()` })
    .execute();
}

/** A verification that did not begin is found after this. */
const PENDING_MAX_SECONDS = 30;
/** One that goes on may have lost its workflow. */
const RUNNING_MAX_SECONDS = 2 * 3_600;

/** Verifications of all tenants that may have lost their workflows; `db` has the role of the system. */
export const stalledVerifications = (db: Database, limit: number) =>
  db
    .selectFrom('verification')
    .where((eb) =>
      eb.or([
        eb('state', '=', 'pending').and('updatedAt', '<', secondsAgo(PENDING_MAX_SECONDS)),
        eb('state', '=', 'running').and('updatedAt', '<', secondsAgo(RUNNING_MAX_SECONDS)),
      ]),
    )
    .orderBy(sql`random()`)
    .limit(limit)
    .select(['tenantId', tenantSlugOf('tenantId'), 'id'])
    .execute();
