import type { ActorReads } from '../data/fenced-reads.ts';
import { notFound } from '../shared/errors.ts';
import type { FlowCategory } from './category-rules.ts';
import type { ExecutionMode } from './new-runs.queries.ts';
import type { WorkItemRef } from './flow-types.ts';
import { displayOf, NEW_RUN, RUN_STATUSES, type RunStatus } from './run-status-rules.ts';

/** A run as lists show it. Moments are the database's text. */
export interface RunRow {
  id: string;
  projectIdentifier: string | null;
  flowPath: string;
  status: RunStatus;
  error: string | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  triggeredBy: string;
  taskType: string;
  category: FlowCategory;
  executionMode: ExecutionMode;
  cicdRunUrl: string | null;
  workItemRef: WorkItemRef | null;
  rerunOfExecutionId: string | null;
  rerunType: string | null;
  parentExecutionId: string | null;
  environmentName: string | null;
  domain: string | null;
  releaseName: string | null;
}

export interface RunFilter {
  projectId?: string | undefined;
  executionMode?: ExecutionMode | undefined;
  categories?: readonly string[] | undefined;
  taskTypes?: readonly string[] | undefined;
  statuses?: readonly RunStatus[] | undefined;
  /** A part of the path, in any case. */
  flowPath?: string | undefined;
  workItemKeys?: readonly string[] | undefined;
  workItemType?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  triggeredBy?: readonly string[] | undefined;
  includeScheduled: boolean;
  includeInternal: boolean;
}

/** Up to here runs are counted one by one when a filter is not among those that counts are kept by. */
export const COUNTED_MAX = 20_000;

class Conditions {
  readonly #parts: string[] = [];
  readonly parameters: unknown[] = [];

  and(sql: string, ...parameters: unknown[]): void {
    this.#parts.push(sql);
    this.parameters.push(...parameters);
  }

  /** One value is compared as such: then an index of the column also gives the order. */
  isOneOf(column: string, values: readonly string[] | undefined): void {
    if (!values) return;
    if (values.length === 1) this.and(`${column} = ?`, values[0]);
    else this.and(`${column} = any (?::text[])`, values);
  }

  get sql(): string {
    return this.#parts.map((part) => ` and ${part}`).join('');
  }
}

const MATCHING_PATHS = `array(select distinct flow_path from flow_run_tally where tenant_id = ? and strpos(lower(flow_path), lower(?)) > 0)`;

/** The conditions on columns that counts are kept by. */
function talliedConditions(tenantId: string, filter: RunFilter): Conditions {
  const conditions = new Conditions();
  const { statuses } = filter;
  if (filter.projectId !== undefined) conditions.and('project_id = ?', filter.projectId);
  if (filter.executionMode !== undefined) conditions.and('execution_mode = ?', filter.executionMode);
  conditions.isOneOf('category', filter.categories);
  conditions.isOneOf('task_type', filter.taskTypes);
  if (statuses) {
    const shown = [...new Set(statuses.map(displayOf))];
    conditions.isOneOf('display_status', shown);
    const isWhole = RUN_STATUSES.every((status) => statuses.includes(status) || !shown.includes(displayOf(status)));
    if (!isWhole) conditions.isOneOf('status', statuses);
  }
  if (filter.workItemType !== undefined) conditions.and('work_item_type = ?', filter.workItemType);
  if (filter.flowPath !== undefined) conditions.and(`flow_path = any (${MATCHING_PATHS})`, tenantId, filter.flowPath);
  if (!filter.includeScheduled) conditions.and('not is_scheduled');
  if (!filter.includeInternal) conditions.and('not is_internal');
  return conditions;
}

/** The others; undefined when the filter has none of them. */
function otherConditions({ workItemKeys, since, until, triggeredBy }: RunFilter): Conditions | undefined {
  if (!workItemKeys && !since && !until && !triggeredBy) return undefined;
  const conditions = new Conditions();
  conditions.isOneOf('work_item_key', workItemKeys);
  conditions.isOneOf('triggered_by', triggeredBy);
  if (since) conditions.and('created_at >= ?', since);
  if (until) conditions.and('created_at < ?', until);
  return conditions;
}

const COLUMNS = `r.id, project.identifier as "projectIdentifier", r.flow_path as "flowPath", r.status, r.error, r.created_at as "createdAt",
  r.started_at as "startedAt", r.ended_at as "endedAt", r.triggered_by as "triggeredBy", r.task_type as "taskType", r.category,
  r.execution_mode as "executionMode", r.cicd_run_url as "cicdRunUrl", r.work_item as "workItemRef",
  r.rerun_of_id as "rerunOfExecutionId", r.rerun_type as "rerunType", r.parent_id as "parentExecutionId",
  environment.name as "environmentName", r.domain, r.release_name as "releaseName"`;

/**
 * One page of runs, newest first, with how many there are, as one statement sees both. The page's ids come from an
 * index, and are not looked for where the total says that there are none; the total comes from counts that triggers keep, and is exact. With a filter by time, trigger or work item the
 * runs are counted one by one, up to `COUNTED_MAX`; beyond that `isExact` is false.
 */
export async function listRuns(
  { sql, tenantId }: ActorReads,
  filter: RunFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ runs: RunRow[]; total: number; isExact: boolean }> {
  const tallied = talliedConditions(tenantId, filter);
  const other = otherConditions(filter);
  const onRows = {
    sql: tallied.sql + (other?.sql ?? ''),
    parameters: [tenantId, ...tallied.parameters, ...(other?.parameters ?? [])],
  };
  const counted = other
    ? {
        sql: `select count(*) as total from (select 1 from flow_run where tenant_id = ?${onRows.sql} limit ${COUNTED_MAX + 1}) matching`,
        parameters: onRows.parameters,
      }
    : {
        sql: `select coalesce(sum(runs), 0) as total from flow_run_tally where tenant_id = ?${tallied.sql}`,
        parameters: [tenantId, ...tallied.parameters],
      };
  const rows = await sql<RunRow & { total: string }>(
    `with counted as materialized (${counted.sql}),
     page as materialized (
       select id, created_at from flow_run where tenant_id = ?${onRows.sql} and (select total from counted) > ?::bigint
       order by created_at desc, id desc limit ? offset ?)
     select ${COLUMNS}, counted.total
     from counted left join page on true left join flow_run r on r.tenant_id = ? and r.id = page.id
       left join project on project.tenant_id = r.tenant_id and project.id = r.project_id
       left join environment on environment.tenant_id = r.tenant_id and environment.id = r.environment_id
     order by page.created_at desc, page.id desc`,
    [...counted.parameters, ...onRows.parameters, Math.min(offset, COUNTED_MAX), limit, offset, tenantId],
  );
  const total = Number(rows[0]?.total ?? 0);
  const isExact = !other || total <= COUNTED_MAX;
  return { runs: rows.filter(({ id }) => id !== null), total: isExact ? total : COUNTED_MAX, isExact };
}

export interface RunDetail extends RunRow {
  hasWorkflow: boolean;
  payload: Record<string, unknown>;
  result: Record<string, unknown>;
  outputTail: string | null;
  /** Key of all of the output in the object store. */
  outputObject: string | null;
  cancelRequestedAt: string | null;
  schedulePath: string | null;
  /** The latest attempt of each, oldest first; at most 500. */
  children: { id: string; taskType: string; domain: string | null; status: RunStatus }[];
  locks: { lockKey: string; ticketId: string | null; runId: string | null }[];
}

/** Throws `not_found`. */
export async function runDetail({ sql, tenantId }: ActorReads, id: string): Promise<RunDetail> {
  const [run] = await sql<RunDetail>(
    `select ${COLUMNS}, r.has_workflow as "hasWorkflow", r.payload, r.result, r.output_tail as "outputTail", r.output_object as "outputObject",
       r.cancel_requested_at as "cancelRequestedAt", r.schedule_path as "schedulePath",
       coalesce((select json_agg(child order by child.created_at) from (
         select distinct on (c.task_type, c.flow_path, c.domain, c.environment_id) c.id, c.task_type as "taskType", c.domain, c.status, c.created_at
         from flow_run c where c.tenant_id = r.tenant_id and c.parent_id = r.id
         order by c.task_type, c.flow_path, c.domain, c.environment_id, c.created_at desc, c.id desc limit 500) child), '[]') as children,
       coalesce((select json_agg(json_build_object('lockKey', l.lock_key, 'ticketId', l.ticket_id, 'runId', l.run_id) order by l.created_at)
         from flow_run_lock l where l.tenant_id = r.tenant_id and l.execution_id = r.id), '[]') as locks
     from flow_run r
       left join project on project.tenant_id = r.tenant_id and project.id = r.project_id
       left join environment on environment.tenant_id = r.tenant_id and environment.id = r.environment_id
     where r.tenant_id = ? and r.id = ?`,
    [tenantId, id],
  );
  if (!run) throw notFound('The run');
  return run;
}

/** How the open runs of a tenant stand. A moment is the database's text. */
export interface RunsStanding {
  waiting: number;
  running: number;
  /** Accepted for more than 30 s, and not begun. */
  notLaunched: number;
  oldestNotLaunchedAt: string | null;
}

export async function runsStanding({ sql, tenantId }: ActorReads): Promise<RunsStanding> {
  const [standing] = await sql<RunsStanding>(
    `select
       (select coalesce(sum(runs), 0)::int from flow_run_tally where tenant_id = ? and display_status = 'Waiting') as waiting,
       (select coalesce(sum(runs), 0)::int from flow_run_tally where tenant_id = ? and display_status = 'Running') as running,
       count(*)::int as "notLaunched", min(created_at) as "oldestNotLaunchedAt"
     from flow_run where tenant_id = ? and display_status = 'Waiting' and status = '${NEW_RUN}' and has_workflow and created_at < now() - interval '30 seconds'`,
    [tenantId, tenantId, tenantId],
  );
  return standing ?? { waiting: 0, running: 0, notLaunched: 0, oldestNotLaunchedAt: null };
}
