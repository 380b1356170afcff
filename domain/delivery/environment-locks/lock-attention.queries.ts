import { sql } from 'kysely';
import type { AttentionRule } from '../../kernel/attention/attention-rule.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import { HOLD_SAMPLE } from './environment-locks.queries.ts';

/** Locks for which others wait and that are held longer than those before them were, as the estimate of a wait has it. */
export const overdueLocks: AttentionRule = {
  kind: 'lock_overdue',
  shownBy: 'getEnvironmentLockQueue',
  action: 'releaseEnvironmentLock',
  async find({ db, tenantId }, { limit }) {
    const { rows } = await sql<{
      ticketId: string;
      environmentId: string;
      environmentName: string;
      repositoryIdentifier: string;
      heldBy: string;
      heldAt: string;
      waiting: number;
      median: number;
    }>`
      select t.id as "ticketId", t.environment_id as "environmentId", e.name as "environmentName",
        p.identifier as "repositoryIdentifier", t.holder->>'email' as "heldBy", t.held_at as "heldAt",
        w.waiting, past.median
      from environment_lock_ticket t
      join environment e on e.tenant_id = t.tenant_id and e.id = t.environment_id
      join project p on p.tenant_id = e.tenant_id and p.id = e.project_id
      cross join lateral (select count(*)::int as waiting from environment_lock_ticket q
        where q.tenant_id = t.tenant_id and q.environment_id = t.environment_id and q.state = 'queued') w
      cross join lateral (select percentile_cont(0.5) within group (order by seconds) as median from (
        select extract(epoch from s.ended_at - s.held_at)::float8 as seconds from environment_lock_ticket s
        where s.tenant_id = t.tenant_id and s.environment_id = t.environment_id and s.held_at is not null
          and s.ended_at is not null
        order by s.ended_at desc limit ${sql.lit(HOLD_SAMPLE)}) sample) past
      where t.tenant_id = ${tenantId} and t.state = 'held' and w.waiting > 0
        and extract(epoch from clock_timestamp() - t.held_at) > past.median
      order by t.held_at limit ${limit}`.execute(db);
    return rows.map(({ ticketId, environmentId, environmentName, repositoryIdentifier, heldBy, heldAt, ...row }) => ({
      key: ticketId,
      title: `Lock of ${environmentName}`,
      reason: `${heldBy} has held the lock since ${isoOf(heldAt)}, longer than the ${Math.ceil(row.median / 60)} minutes that locks were held there before; others wait: ${row.waiting}`,
      since: isoOf(heldAt),
      repositoryIdentifier,
      params: { id: environmentId, ticketId },
      state: ticketId,
    }));
  },
};
