create or replace function settle_flow_run_tally() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with gone as (delete from flow_run_tally where not is_settled returning *),
    summed as (
      insert into flow_run_tally as t (tenant_id, project_id, status, display_status, category, task_type, flow_path,
        execution_mode, work_item_type, is_internal, is_scheduled, runs, is_settled)
      select tenant_id, project_id, status, display_status, category, task_type, flow_path,
        execution_mode, work_item_type, is_internal, is_scheduled, sum(runs), true
      from gone
      group by tenant_id, project_id, status, display_status, category, task_type, flow_path,
        execution_mode, work_item_type, is_internal, is_scheduled
      having sum(runs) <> 0
      on conflict (tenant_id, project_id, status, display_status, category, task_type, flow_path,
        execution_mode, work_item_type, is_internal, is_scheduled) where is_settled
        do update set runs = t.runs + excluded.runs)
  select count(*)::int from gone $$;
revoke all on function settle_flow_run_tally() from public;
grant execute on function settle_flow_run_tally() to :system_role;
