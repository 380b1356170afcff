/**
 * Has the sweeper start runs, exports and schedules under way again under ids of today. Not runs of programs, which are
 * never run twice: a workflow that runs one ends with its worker.
 */
export const RESTART_WORKFLOWS = `
  update flow_run r set status = 'dispatched', display_status = 'Waiting', engine_run_id = null, launched_at = null
    where ended_at is null and has_workflow and (status in ('waiting_approval', 'waiting_lock') or status = 'running' and
      (jsonb_exists(payload, 'pipeline') or exists (select from flow_run c where c.tenant_id = r.tenant_id and c.parent_id = r.id)));
  update audit_export set status = 'queued' where status = 'running';
  update flow_schedule set synced_at = null where deleted_at is null;`;
