import { type RawBuilder, sql } from 'kysely';
import type { PlaceCursor } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import {
  deploymentSources,
  holdSources,
  RUN_ENVIRONMENT,
  runSources,
  timelinePage,
  type TimelineSource,
} from './timeline.queries.ts';

/** How often the lock was held, by whom, and how it was given back. */
function lockSources(tenantId: string, environmentId: string): TimelineSource[] {
  const source = (type: 'locked' | 'unlocked', at: RawBuilder<unknown>, more: TimelineSource['columns']) => ({
    type,
    id: sql`t.id`,
    at,
    columns: {
      environmentId: sql`t.environment_id`,
      environmentName: sql`e.name`,
      by: sql`coalesce(r.triggered_by, t.holder ->> 'email')`,
      executionId: sql`coalesce(t.run_id::text, t.execution_id)`,
      ticketId: sql`t.id`,
      ...more,
    },
    rows: sql`from environment_lock_ticket t
      join environment e on e.tenant_id = t.tenant_id and e.id = t.environment_id
      left join flow_run r on r.tenant_id = t.tenant_id and r.id = t.run_id
      where t.tenant_id = ${tenantId} and t.environment_id = ${environmentId} and t.held_at is not null and ${at} is not null`,
  });
  return [
    source('locked', sql`t.held_at`, { detail: sql`t.reason` }),
    source('unlocked', sql`t.ended_at`, { status: sql`t.state` }),
  ];
}

/** What ran in an environment, who locked it, what failed there, and what its verifications held, newest first. */
export const environmentTimeline = (
  reads: Reads,
  environmentId: string,
  page: { cursor: PlaceCursor | undefined; limit: number },
) =>
  timelinePage(
    reads,
    [
      ...deploymentSources(sql`d.tenant_id = ${reads.tenantId} and d.environment_id = ${environmentId}`),
      ...holdSources(sql`n.tenant_id = ${reads.tenantId} and n.environment_id = ${environmentId}`),
      ...lockSources(reads.tenantId, environmentId),
      ...runSources(
        sql`from flow_run r ${RUN_ENVIRONMENT} where r.tenant_id = ${reads.tenantId} and r.environment_id = ${environmentId}`,
      ).filter(({ type }) => type !== 'run_requested'),
    ],
    page,
  );
