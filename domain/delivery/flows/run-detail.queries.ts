import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { PolicyViolation } from '../../projects/policies/policy-violation-rules.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { RunTicket } from './run-move-rules.ts';
import type { RunStatus } from './run-status-rules.ts';

export const COLUMNS = [
  'r.id',
  'project.identifier as projectIdentifier',
  'r.flowPath',
  'r.status',
  'r.error',
  'r.createdAt',
  'r.startedAt',
  'r.endedAt',
  'r.triggeredBy',
  'r.taskType',
  'r.workflowPath',
  'r.category',
  'r.executionMode',
  'r.cicdRunUrl',
  'r.workItem as workItemRef',
  'r.rerunOfId as rerunOfExecutionId',
  'r.rerunType',
  'r.parentId as parentExecutionId',
  'environment.name as environmentName',
  'r.domain',
  'r.releaseName',
  'r.nextWindowAt',
  'r.waitsFor',
  'r.override',
] as const;

interface ChildSummary {
  id: string;
  taskType: string;
  domain: string | null;
  status: RunStatus;
}
interface OutsideLock {
  lockKey: string;
  ticketId: string | null;
  runId: string | null;
}

/** A moment as ISO 8601. */
const iso = (column: string) => sql`to_char(${sql.raw(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The latest attempt of each, oldest first. */
const CHILDREN = sql<ChildSummary[]>`coalesce((
  select json_agg(child order by child.created_at) from (
    select distinct on (c.task_type, c.flow_path, c.domain, c.environment_id)
      c.id, c.task_type as "taskType", c.domain, c.status, c.created_at
    from flow_run c where c.tenant_id = r.tenant_id and c.parent_id = r.id
    order by c.task_type, c.flow_path, c.domain, c.environment_id, c.created_at desc, c.id desc limit 500) child), '[]')`;

const LOCKS = sql<OutsideLock[]>`coalesce((
  select json_agg(json_build_object('lockKey', l.lock_key, 'ticketId', l.ticket_id, 'runId', l.run_id) order by l.created_at)
  from flow_run_lock l where l.tenant_id = r.tenant_id and l.execution_id = r.id), '[]')`;

/** In the order in which they were requested. */
const TICKETS = sql<RunTicket[]>`coalesce((
  select json_agg(json_build_object('id', t.id, 'createdAt', ${iso('t.created_at')}, 'heldAt', ${iso('t.held_at')},
    'endedAt', ${iso('t.ended_at')}) order by t.number)
  from environment_lock_ticket t where t.tenant_id = r.tenant_id and t.run_id = r.id), '[]')`;

const APPROVAL_ID = sql<
  string | null
>`(select a.id from approval a where a.tenant_id = r.tenant_id and a.run_id = r.id)`;

/** What the deployments that name the run broke of the policies of their environments. */
const VIOLATIONS = sql<PolicyViolation[]>`coalesce((
  select jsonb_agg(v.violation order by d.deployed_at, d.id, v.place)
  from release_deployment d cross join lateral jsonb_array_elements(d.policy_violations) with ordinality as v (violation, place)
  where d.tenant_id = r.tenant_id and d.project_id = r.project_id and d.execution_id = r.id::text
    and d.policy_violations <> '[]'), '[]')`;

/**
 * One run with its children (at most 500), the locks that it holds outside, its approval and tickets, and what its
 * deployments broke of policies.
 * Throws `not_found`.
 */
export async function runDetail({ db, tenantId }: Reads, id: string) {
  const run = await db
    .selectFrom('flow_run as r')
    .leftJoin('project', (join) =>
      join.onRef('project.tenantId', '=', 'r.tenantId').onRef('project.id', '=', 'r.projectId'),
    )
    .leftJoin('environment', (join) =>
      join.onRef('environment.tenantId', '=', 'r.tenantId').onRef('environment.id', '=', 'r.environmentId'),
    )
    .where('r.tenantId', '=', tenantId)
    .where('r.id', '=', id)
    .select([
      ...COLUMNS,
      'r.hasWorkflow',
      'r.moves',
      APPROVAL_ID.as('approvalId'),
      TICKETS.as('tickets'),
      'r.payload',
      'r.result',
      'r.outputTail',
      'r.outputSoFar',
      'r.outputBytes',
      'r.progress',
      'r.cancelRequestedAt',
      'r.schedulePath',
      CHILDREN.as('children'),
      LOCKS.as('locks'),
      VIOLATIONS.as('policyViolations'),
    ])
    .executeTakeFirst();
  if (!run) throw notFound('The run');
  return run;
}
