import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { type DisplayStatus, displayOf, type RunStatus } from './run-status-rules.ts';
import { type GateFacts, type RunWait, waitOf } from './run-wait-rules.ts';

/** Where a run is, for readers of what it was requested by. */
export interface RunState {
  id: string;
  taskType: string;
  environmentName: string | null;
  releaseName: string | null;
  status: DisplayStatus;
  rawStatus: RunStatus;
  waiting: RunWait | null;
}

/** The approval that a run waits for. */
const APPROVAL = sql<GateFacts['approval']>`(
  select json_build_object('approvers', a.approvers, 'minApprovals', a.min_approvals, 'expiresAt', a.expires_at::timestamptz(3),
    'given', (select count(*)::int from approval_event v
      where v.tenant_id = a.tenant_id and v.approval_id = a.id and v.vote = 'approve'))
  from approval a where r.status = 'waiting_approval' and a.tenant_id = r.tenant_id and a.run_id = r.id)`;

/** The lock that a run waits for: the first that it does not have, as it takes one after another. */
const LOCK = sql<GateFacts['lock']>`(
  select json_build_object('environmentName', e.name, 'heldBy', coalesce(holding.triggered_by, h.holder ->> 'email'),
    'expiresAt', h.expires_at::timestamptz(3))
  from environment_lock_ticket t
  join environment e on e.tenant_id = t.tenant_id and e.id = t.environment_id
  left join environment_lock_ticket h on h.tenant_id = t.tenant_id and h.environment_id = t.environment_id and h.state = 'held'
  left join flow_run holding on holding.tenant_id = h.tenant_id and holding.id = h.run_id
  where r.status = 'waiting_lock' and t.tenant_id = r.tenant_id and t.run_id = r.id and t.state in ('asked', 'queued')
  order by t.number limit 1)`;

/** The states of those of these runs that there are, newest first. */
export async function runStates({ db, tenantId }: Reads, ids: readonly string[]): Promise<RunState[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('flow_run as r')
    .leftJoin('environment', (join) =>
      join.onRef('environment.tenantId', '=', 'r.tenantId').onRef('environment.id', '=', 'r.environmentId'),
    )
    .where('r.tenantId', '=', tenantId)
    .where('r.id', '=', sql<string>`any (${ids}::uuid[])`)
    .orderBy('r.createdAt', 'desc')
    .orderBy('r.id', 'desc')
    .select([
      'r.id',
      'r.taskType',
      'environment.name as environmentName',
      'r.releaseName',
      'r.status',
      'r.waitsFor',
      'r.nextWindowAt',
      APPROVAL.as('approval'),
      LOCK.as('lock'),
    ])
    .execute();
  return rows.map(({ id, taskType, environmentName, releaseName, ...facts }) => ({
    id,
    taskType,
    environmentName,
    releaseName,
    status: displayOf(facts.status),
    rawStatus: facts.status,
    waiting: waitOf(facts),
  }));
}
