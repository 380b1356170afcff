import { newId } from '../../domain/shared/ids.ts';
import type { TestApp } from './app.ts';

export interface RunRow {
  repositoryIdentifier: string;
  environmentId?: string | null;
  taskType?: string;
  domain?: string | null;
  releaseName?: string | null;
  payload?: object;
  /** E-mail of who asked for it. */
  requestedBy: string;
}

/** The row of a run that is carried out elsewhere: nothing but a gate is tried with it. Answers its id. */
export async function insertRun(app: TestApp, run: RunRow): Promise<string> {
  const id = newId();
  await app.sql(
    `insert into flow_run (id, tenant_id, project_id, environment_id, has_workflow, task_type, category, flow_path, execution_mode, domain, release_name,
       status, display_status, payload, triggered_by, requested_by)
     select ?, p.tenant_id, p.id, ?, false, ?, 'release', 'flows/test', 'flow', ?, ?, 'waiting_approval', 'Waiting', ?::jsonb, u.email,
       jsonb_build_object('type', 'user', 'id', u.id, 'tenantId', p.tenant_id, 'role', 'member', 'email', u.email)
     from project p, user_account u where p.tenant_id = ? and p.identifier = ? and u.email = ?`,
    [
      id,
      run.environmentId ?? null,
      run.taskType ?? 'execute-release',
      run.domain ?? null,
      run.releaseName ?? null,
      JSON.stringify(run.payload ?? {}),
      app.tenant.id,
      run.repositoryIdentifier,
      run.requestedBy,
    ],
  );
  return id;
}
