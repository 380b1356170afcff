import type { ApprovalPolicy, EnvironmentCategory } from '../environments/environments.entities.ts';
import type { Platform } from '../projects/projects.entities.ts';
import type { Actor } from '../shared/actor.ts';
import { notFound } from '../shared/errors.ts';
import { textArray } from '../shared/text-array.ts';
import type { Tx } from '../unit-of-work.ts';
import type { FlowCategory } from './category-rules.ts';
import type { RunPayload, WorkItemRef } from './flow-types.ts';
import type { ExecutionMode } from './new-runs.queries.ts';
import { displayOf, FINAL_STATUSES, type RunStatus } from './run-status-rules.ts';

/** A run with what its steps need to know. Moments are the database's text. */
export interface RunContext {
  id: string;
  parentId: string | null;
  projectId: string | null;
  repositoryIdentifier: string | null;
  platform: Platform | null;
  defaultBranch: string | null;
  remoteUrl: string | null;
  environmentId: string | null;
  environmentName: string | null;
  environmentCategory: EnvironmentCategory | null;
  approvalPolicy: ApprovalPolicy | null;
  hasWorkflow: boolean;
  taskType: string;
  category: FlowCategory;
  flowPath: string;
  executionMode: ExecutionMode;
  isInternal: boolean;
  isScheduled: boolean;
  domain: string | null;
  releaseName: string | null;
  status: RunStatus;
  payload: RunPayload;
  result: Record<string, unknown>;
  error: string | null;
  workItem: WorkItemRef | null;
  triggeredBy: string;
  requestedBy: Actor;
  requestId: string | null;
  traceparent: string | null;
  cicdRunId: string | null;
  cicdRunUrl: string | null;
  dispatchTriedAt: string | null;
  cancelRequestedAt: string | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

const FACTS = `
  select r.id, r.parent_id as "parentId", r.project_id as "projectId", p.identifier as "repositoryIdentifier", p.platform,
    p.default_branch as "defaultBranch", p.remote_url as "remoteUrl", r.environment_id as "environmentId", e.name as "environmentName",
    e.category as "environmentCategory", e.approval_policy as "approvalPolicy", r.has_workflow as "hasWorkflow", r.task_type as "taskType",
    r.category, r.flow_path as "flowPath", r.execution_mode as "executionMode", r.is_internal as "isInternal", r.is_scheduled as "isScheduled",
    r.domain, r.release_name as "releaseName", r.status, r.payload, r.result, r.error, r.work_item as "workItem", r.triggered_by as "triggeredBy",
    r.requested_by as "requestedBy", r.request_id as "requestId", r.traceparent, r.cicd_run_id as "cicdRunId", r.cicd_run_url as "cicdRunUrl",
    r.dispatch_tried_at as "dispatchTriedAt", r.cancel_requested_at as "cancelRequestedAt", r.created_at as "createdAt",
    r.started_at as "startedAt", r.ended_at as "endedAt"
  from flow_run r
    left join project p on p.tenant_id = r.tenant_id and p.id = r.project_id
    left join environment e on e.tenant_id = r.tenant_id and e.id = r.environment_id
  where r.tenant_id = ? and r.id = ?`;

/** Whoever reads rows: a unit of work, or reads without a transaction. */
type Reader = Pick<Tx, 'sql' | 'tenantId'>;

export const findRun = async ({ sql, tenantId }: Reader, id: string): Promise<RunContext | undefined> =>
  (await sql<RunContext>(FACTS, [tenantId, id]))[0];

/** Throws `not_found`. Locked, nobody else moves the run before this transaction ends. */
export async function runById(tx: Reader, id: string, { isLocked = false } = {}): Promise<RunContext> {
  const [run] = await tx.sql<RunContext>(isLocked ? `${FACTS} for update of r` : FACTS, [tx.tenantId, id]);
  if (!run) throw notFound('The run');
  return run;
}

export interface ClaimedRun {
  run: RunContext;
  /** It is that of another workflow, of which the engine no longer knows. */
  isLost: boolean;
}

/** Makes a run that of one workflow, which may ask again; undefined when there is no such run. */
export async function claimRun(tx: Tx, id: string, engineRunId: string): Promise<ClaimedRun | undefined> {
  const [claim] = await tx.sql<{ engineRunId: string }>(
    `update flow_run set engine_run_id = coalesce(engine_run_id, ?) where tenant_id = ? and id = ? returning engine_run_id as "engineRunId"`,
    [engineRunId, tx.tenantId, id],
  );
  const run = claim && (await findRun(tx, id));
  return run && { run, isLost: claim.engineRunId !== engineRunId };
}

const FINAL = FINAL_STATUSES.map((status) => `'${status}'`).join(', ');

export interface RunMove {
  status: RunStatus;
  error?: string | undefined;
  /** Merged into the result, member by member at the top. */
  result?: Record<string, unknown> | undefined;
  startedAt?: Date;
  endedAt?: Date;
}

/** Moves an open run; undefined when it is final, or is there already. */
export async function moveRun(
  { sql, tenantId }: Tx,
  id: string,
  move: RunMove,
): Promise<{ startedAt: string | null; endedAt: string | null } | undefined> {
  const [moved] = await sql<{ startedAt: string | null; endedAt: string | null }>(
    `update flow_run set status = ?, display_status = ?, error = coalesce(?, error), result = result || ?::jsonb,
       started_at = coalesce(started_at, ?), ended_at = ?, updated_at = now()
     where tenant_id = ? and id = ? and status not in (${FINAL}) and status <> ?
     returning started_at as "startedAt", ended_at as "endedAt"`,
    [
      move.status,
      displayOf(move.status),
      move.error ?? null,
      JSON.stringify(move.result ?? {}),
      move.startedAt ?? null,
      move.endedAt ?? null,
      tenantId,
      id,
      move.status,
    ],
  );
  return moved;
}

/** Gives a run that is over another outcome; false when it has that already. */
export async function reviseRun(
  { sql, tenantId }: Tx,
  id: string,
  { status, error }: Pick<RunMove, 'status' | 'error'>,
): Promise<boolean> {
  const revised = await sql(
    `update flow_run set status = ?, display_status = ?, error = ?, updated_at = now()
     where tenant_id = ? and id = ? and status in (${FINAL}) and status <> ? returning 1`,
    [status, displayOf(status), error ?? null, tenantId, id, status],
  );
  return revised.length > 0;
}

/** Replaces the result of a run, which the caller has read locked. */
export async function writeResult({ sql, tenantId }: Tx, id: string, result: Record<string, unknown>): Promise<void> {
  await sql('update flow_run set result = ?::jsonb, updated_at = now() where tenant_id = ? and id = ?', [
    JSON.stringify(result),
    tenantId,
    id,
  ]);
}

/** Keeps the lock that a run holds outside; the same lock again is replaced. */
export async function trackLock(
  { sql, tenantId }: Tx,
  {
    executionId,
    lockKey,
    ticketId,
    runId,
  }: { executionId: string; lockKey: string; ticketId?: string | undefined; runId?: string | undefined },
): Promise<void> {
  await sql(
    `insert into flow_run_lock (tenant_id, execution_id, lock_key, ticket_id, run_id) values (?, ?, ?, ?, ?)
     on conflict (tenant_id, execution_id, lock_key) do update
       set ticket_id = coalesce(excluded.ticket_id, flow_run_lock.ticket_id), run_id = coalesce(excluded.run_id, flow_run_lock.run_id), updated_at = now()`,
    [tenantId, executionId, lockKey, ticketId ?? null, runId ?? null],
  );
}

export async function keepOutput(
  { sql, tenantId }: Tx,
  id: string,
  outputTail: string,
  outputKey: string | null,
): Promise<void> {
  await sql('update flow_run set output_tail = ?, output_object = ? where tenant_id = ? and id = ?', [
    outputTail,
    outputKey,
    tenantId,
    id,
  ]);
}

/** Notes that a run's pipeline is about to be dispatched; false when that was noted before. */
export async function noteDispatch({ sql, tenantId }: Tx, id: string): Promise<boolean> {
  const noted = await sql(
    'update flow_run set dispatch_tried_at = now(), updated_at = now() where tenant_id = ? and id = ? and dispatch_tried_at is null returning 1',
    [tenantId, id],
  );
  return noted.length > 0;
}

/** Takes a note back: nothing was dispatched. */
export async function forgetDispatch({ sql, tenantId }: Tx, id: string): Promise<void> {
  await sql('update flow_run set dispatch_tried_at = null where tenant_id = ? and id = ? and cicd_run_id is null', [
    tenantId,
    id,
  ]);
}

export async function notePipeline(
  { sql, tenantId }: Tx,
  id: string,
  { runId, url }: { runId: string | null; url: string | null },
): Promise<void> {
  await sql(
    'update flow_run set cicd_run_id = coalesce(cicd_run_id, ?), cicd_run_url = coalesce(cicd_run_url, ?), updated_at = now() where tenant_id = ? and id = ?',
    [runId, url, tenantId, id],
  );
}

/** Asks a run to end; the first request counts. */
export async function noteCancel({ sql, tenantId }: Tx, ids: readonly string[]): Promise<void> {
  await sql(
    'update flow_run set cancel_requested_at = coalesce(cancel_requested_at, now()), updated_at = now() where tenant_id = ? and id = any (?::uuid[]) and ended_at is null',
    [tenantId, textArray(ids)],
  );
}

export interface ChildRun {
  id: string;
  taskType: string;
  flowPath: string;
  domain: string | null;
  environmentId: string | null;
  status: RunStatus;
  hasWorkflow: boolean;
}

/** The latest attempt of each child of a run: of each type, path, domain and environment. */
export const latestChildren = ({ sql, tenantId }: Reader, parentId: string): Promise<ChildRun[]> =>
  sql(
    `select distinct on (task_type, flow_path, domain, environment_id) id, task_type as "taskType", flow_path as "flowPath", domain,
       environment_id as "environmentId", status, has_workflow as "hasWorkflow"
     from flow_run where tenant_id = ? and parent_id = ? order by task_type, flow_path, domain, environment_id, created_at desc, id desc`,
    [tenantId, parentId],
  );
