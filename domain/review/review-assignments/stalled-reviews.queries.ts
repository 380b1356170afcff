import { sql, type SqlBool } from 'kysely';
import { secondsAgo } from '../../kernel/data/conditions.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { PROVISIONED_WITHIN_SECONDS } from '../review-pools/instance-rules.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { ReviewAssignmentKey, ReviewPoolKey } from '../review.signals.ts';

/** A workflow that lives does what is due within this time. */
const DONE_WITHIN_SECONDS = 5;
/** A pool whose lack of orgs nobody sees to. */
const POOL_SEEN_WITHIN_SECONDS = 120;

/** Open assignments whose workflow did not see them, or did not do what was due. */
export const stalledAssignments = (
  system: Database,
  unseenSeconds: number,
  limit: number,
): Promise<(TenantKey & ReviewAssignmentKey)[]> =>
  system
    .selectFrom('review_assignment as a')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'a.tenantId').onRef('p.id', '=', 'a.projectId'))
    .where(sql<SqlBool>`a.state in ('pending', 'active')`)
    .where((eb) =>
      eb.or([
        eb.and([eb('a.seenAt', 'is', null), eb('a.createdAt', '<', secondsAgo(unseenSeconds))]),
        sql<SqlBool>`a.seen_at < a.assigned_at and a.assigned_at < ${secondsAgo(unseenSeconds)}`,
        eb.and([eb('a.state', '=', 'active'), eb('a.expiresAt', '<', secondsAgo(DONE_WITHIN_SECONDS))]),
        sql<SqlBool>`a.state = 'active' and a.warned_at is null and a.expires_at < ${secondsAgo(DONE_WITHIN_SECONDS)} + interval '2 hours'
          and a.expires_at - a.assigned_at > interval '2 hours'`,
      ]),
    )
    .orderBy('a.number')
    .limit(limit)
    .select([
      'a.tenantId',
      tenantSlugOf('a.tenantId'),
      'a.id as assignmentId',
      'p.identifier as repositoryIdentifier',
      sql<string>`a.assignment_type || ' ' || a.assignment_key`.as('subject'),
      'a.targetName as target',
    ])
    .execute();

/** Pools where somebody waits although an org is available, an org has ended, or orgs are missing and nobody sees to it. */
export const stalledPools = (system: Database, limit: number): Promise<(TenantKey & ReviewPoolKey)[]> => {
  const count = (states: string) => sql<number>`(select count(*) from review_instance i
    where i.tenant_id = o.tenant_id and i.pool_id = o.id and i.state in (${sql.raw(states)}))`;
  return system
    .selectFrom('review_pool as o')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'o.tenantId').onRef('p.id', '=', 'o.projectId'))
    .where(
      sql<SqlBool>`coalesce(o.checked_at, o.created_at) < ${secondsAgo(DONE_WITHIN_SECONDS)} and (
        exists (select from review_instance i where i.tenant_id = o.tenant_id and i.pool_id = o.id
          and i.state in ('provisioning', 'available', 'assigned', 'refreshing')
          and (i.expires_at < ${secondsAgo(DONE_WITHIN_SECONDS)}
            or i.state = 'provisioning' and i.state_changed_at < ${secondsAgo(PROVISIONED_WITHIN_SECONDS + DONE_WITHIN_SECONDS)}))
        or exists (select from review_instance i where i.tenant_id = o.tenant_id and i.pool_id = o.id and i.state = 'available'
            and (i.expires_at is null or i.expires_at > now()))
          and exists (select from review_assignment a where a.tenant_id = o.tenant_id and a.pool_id = o.id and a.state = 'pending')
        or o.is_active and coalesce(o.checked_at, o.created_at) < ${secondsAgo(POOL_SEEN_WITHIN_SECONDS)}
          and (o.prepare_due_at is null or o.prepare_due_at < now())
          and (o.prepare_run_id is not null
            or ${count(`'provisioning', 'available', 'refreshing'`)} < o.min_available + (select count(*) from review_assignment a
                where a.tenant_id = o.tenant_id and a.pool_id = o.id and a.state = 'pending')
              and ${count(`'provisioning', 'available', 'assigned', 'refreshing'`)} < o.max_instances
            or ${count(`'refreshing'`)} > 0))`,
    )
    .orderBy('o.id')
    .limit(limit)
    .select([
      'o.tenantId',
      tenantSlugOf('o.tenantId'),
      'o.id as poolId',
      'o.tag as poolTag',
      'p.identifier as repositoryIdentifier',
    ])
    .execute();
};
