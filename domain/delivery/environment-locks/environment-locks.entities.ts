import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { TicketState } from './lock-rules.ts';

export const EnvironmentLockTicketSchema = defineEntity({
  name: 'EnvironmentLockTicket',
  tableName: 'environment_lock_ticket',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    environmentId: p.uuid(),
    /** The order in which tickets are served. */
    number: p.bigint('string').generated('identity').autoincrement(),
    holder: jsonColumn<Actor>(),
    /** One holder has one live ticket for an environment at most. */
    holderKey: p.text(),
    /** What the lock is for, as the caller names it. */
    executionId: p.text().nullable(),
    runId: p.uuid().nullable(),
    reason: p.text().nullable(),
    leaseMinutes: p.double().$type<number>(),
    state: p.text().$type<TicketState>().default('asked'),
    heldAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(6).nullable(),
    endedAt: p.datetime(3).nullable(),
  },
});
