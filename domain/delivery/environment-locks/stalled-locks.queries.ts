import { sql } from 'kysely';
import { secondsAgo } from '../../kernel/data/conditions.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { LockQueueKey } from './lock-queue.port.ts';

/** The lock's own timer ends a lease within this time. */
const ENDED_WITHIN_SECONDS = 5;
/** A run requests its ticket again, but not for ever. */
const TICKET_OF_RUN_GIVEN_UP_AFTER_SECONDS = 86_400;

/** Environments whose first ticket could have the lock and has not: the lease before it expired, or was returned. */
export const stalledLocks = (system: Database, limit: number): Promise<LockQueueKey[]> =>
  system
    .with('stalled', (db) =>
      db
        .selectFrom('environment_lock_ticket as t')
        .select(['t.tenantId', 't.environmentId'])
        .where('t.state', 'in', sql<never>`('asked', 'queued', 'held')`)
        .groupBy(['t.tenantId', 't.environmentId'])
        .having(
          sql<boolean>`(bool_or(t.state = 'queued') and not bool_or(t.state = 'held'))
            or min(t.expires_at) filter (where t.state = 'held') < ${secondsAgo(ENDED_WITHIN_SECONDS)}`,
        )
        .limit(limit),
    )
    .selectFrom('stalled')
    .innerJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 'stalled.tenantId').onRef('e.id', '=', 'stalled.environmentId'),
    )
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'e.tenantId').onRef('p.id', '=', 'e.projectId'))
    .select([
      'stalled.tenantId',
      tenantSlugOf('stalled.tenantId'),
      'stalled.environmentId',
      'e.name as environmentName',
      'p.identifier as repositoryIdentifier',
    ])
    .execute();

export interface AbandonedTicket extends TenantKey {
  environmentId: string;
  ticketId: string;
}

/** Tickets that were never queued: whoever requested them so long ago is gone. */
export const abandonedTickets = (system: Database, overdueSeconds: number, limit: number): Promise<AbandonedTicket[]> =>
  system
    .selectFrom('environment_lock_ticket as t')
    .select(['t.tenantId', tenantSlugOf('t.tenantId'), 't.environmentId', 't.id as ticketId'])
    .where('t.state', '=', 'asked')
    .where('t.createdAt', '<', secondsAgo(overdueSeconds))
    .where((eb) =>
      eb.or([eb('t.runId', 'is', null), eb('t.createdAt', '<', secondsAgo(TICKET_OF_RUN_GIVEN_UP_AFTER_SECONDS))]),
    )
    .orderBy('t.createdAt')
    .limit(limit)
    .execute();
