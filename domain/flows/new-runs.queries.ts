import type { Actor } from '../shared/actor.ts';
import { invalidField } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import type { FlowCategory } from './category-rules.ts';
import type { RunPayload, WorkItemRef } from './flow-types.ts';
import { displayOf, type RunStatus } from './run-status-rules.ts';

export type ExecutionMode = 'flow' | 'cicd';

/** What a run is about, found by what its payload names. */
export interface RunPlace {
  projectId: string;
  repositoryIdentifier: string;
  environmentId: string | null;
}

/** Finds repository and environment of a payload; undefined when it names none. Throws `invalid_request`. */
export async function placeOf(
  { sql, tenantId }: Tx,
  payload: RunPayload,
  pointer = '#/body/payload',
): Promise<RunPlace | undefined> {
  const { repositoryIdentifier, environmentName, environmentId } = payload;
  const namesEnvironment = environmentName !== undefined || environmentId !== undefined;
  if (repositoryIdentifier === undefined) {
    if (namesEnvironment)
      throw invalidField(`${pointer}/repositoryIdentifier`, 'an environment is one of a repository: name it, too');
    return undefined;
  }
  const [place] = await sql<RunPlace>(
    `select project.id as "projectId", project.identifier as "repositoryIdentifier", environment.id as "environmentId"
     from project left join environment on environment.tenant_id = project.tenant_id and environment.project_id = project.id
       and (?::text is null or environment.name = ?) and (?::uuid is null or environment.id = ?) and ?
     where project.tenant_id = ? and project.identifier = ?`,
    [
      environmentName ?? null,
      environmentName ?? null,
      environmentId ?? null,
      environmentId ?? null,
      namesEnvironment,
      tenantId,
      repositoryIdentifier,
    ],
  );
  if (!place)
    throw invalidField(
      `${pointer}/repositoryIdentifier`,
      `The repository ${repositoryIdentifier} is not registered as a project`,
    );
  if (namesEnvironment && place.environmentId === null) {
    const member = environmentName === undefined ? 'environmentId' : 'environmentName';
    throw invalidField(`${pointer}/${member}`, `The repository ${repositoryIdentifier} has no such environment`);
  }
  return place;
}

export interface NewRun {
  id?: string;
  projectId: string | null;
  environmentId?: string | null;
  parentId?: string | null;
  scheduleId?: string | null;
  rerunOfId?: string | null;
  rerunType?: string | null;
  /** False for a run that a worker outside carries out and only reports. */
  hasWorkflow: boolean;
  taskType: string;
  category: FlowCategory;
  flowPath: string;
  executionMode: ExecutionMode;
  isInternal: boolean;
  isScheduled: boolean;
  schedulePath?: string | null;
  externalId?: string | null;
  domain?: string | null;
  releaseName?: string | null;
  status: RunStatus;
  payload: Record<string, unknown>;
  workItem?: WorkItemRef | null;
  triggeredBy: string;
  /** Who may not approve it by themselves; the actor when absent. */
  requestedBy?: Actor;
}

/** Who a run is said to be triggered by: an e-mail, `app:<token name>`, `cron`, or `api` for the service itself. */
export const triggerOf = ({ type, email }: Actor): string =>
  type === 'user' || type === 'application' ? email : 'api';

/** Inserts a run; undefined when its `externalId` names one already. A run that is open elsewhere has begun. */
export async function insertRun(tx: Tx, run: NewRun, requestId?: string): Promise<string | undefined> {
  const id = run.id ?? newId();
  const [row] = await tx.sql<{ id: string }>(
    `insert into flow_run (id, tenant_id, project_id, environment_id, parent_id, schedule_id, rerun_of_id, rerun_type, has_workflow,
       task_type, category, flow_path, execution_mode, is_internal, is_scheduled, schedule_path, external_id, domain, release_name,
       status, display_status, payload, work_item_type, work_item_key, work_item, triggered_by, requested_by, request_id, traceparent,
       created_at, updated_at, started_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?, ?, ?::jsonb, ?, ?::jsonb, ?, ?, ?, ?, ?)
     on conflict (tenant_id, external_id) where external_id is not null do nothing returning id`,
    [
      id,
      tx.tenantId,
      run.projectId,
      run.environmentId ?? null,
      run.parentId ?? null,
      run.scheduleId ?? null,
      run.rerunOfId ?? null,
      run.rerunType ?? null,
      run.hasWorkflow,
      run.taskType,
      run.category,
      run.flowPath,
      run.executionMode,
      run.isInternal,
      run.isScheduled,
      run.schedulePath ?? null,
      run.externalId ?? null,
      run.domain ?? null,
      run.releaseName ?? null,
      run.status,
      displayOf(run.status),
      JSON.stringify(run.payload),
      run.workItem?.type ?? null,
      run.workItem?.key ?? null,
      run.workItem ? JSON.stringify(run.workItem) : null,
      run.triggeredBy,
      JSON.stringify(run.requestedBy ?? tx.actor),
      requestId ?? null,
      tx.traceparent ?? null,
      tx.now,
      tx.now,
      run.hasWorkflow ? null : tx.now,
    ],
  );
  return row?.id;
}
