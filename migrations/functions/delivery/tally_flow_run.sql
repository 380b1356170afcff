create or replace function tally_flow_run() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_op <> 'INSERT' then
    insert into flow_run_tally (tenant_id, project_id, status, display_status, category, task_type, flow_path,
      execution_mode, work_item_type, is_internal, is_scheduled, runs)
    values (old.tenant_id, old.project_id, old.status, old.display_status, old.category, old.task_type, old.flow_path,
      old.execution_mode, old.work_item_type, old.is_internal, old.is_scheduled, -1);
  end if;
  if tg_op <> 'DELETE' then
    insert into flow_run_tally (tenant_id, project_id, status, display_status, category, task_type, flow_path,
      execution_mode, work_item_type, is_internal, is_scheduled, runs)
    values (new.tenant_id, new.project_id, new.status, new.display_status, new.category, new.task_type, new.flow_path,
      new.execution_mode, new.work_item_type, new.is_internal, new.is_scheduled, 1);
  end if;
  return null;
end $$;
revoke all on function tally_flow_run() from public;

create or replace trigger tallied after insert or delete on flow_run
  for each row execute function tally_flow_run();
create or replace trigger tallied_again after update on flow_run
  for each row when (old.tenant_id is distinct from new.tenant_id or old.project_id is distinct from new.project_id
    or old.status is distinct from new.status or old.display_status is distinct from new.display_status
    or old.category is distinct from new.category or old.task_type is distinct from new.task_type
    or old.flow_path is distinct from new.flow_path or old.execution_mode is distinct from new.execution_mode
    or old.work_item_type is distinct from new.work_item_type or old.is_internal is distinct from new.is_internal
    or old.is_scheduled is distinct from new.is_scheduled)
  execute function tally_flow_run();
