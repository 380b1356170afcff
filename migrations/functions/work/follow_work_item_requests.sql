create or replace function follow_work_item_requests() returns trigger
  language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  -- In key order, so that writers of the same counts wait for each other and never in a circle.
  if tg_op = 'INSERT' then
    insert into work_item_request_tally as t
      (tenant_id, project_id, repository_identifier, platform, status, task_type, requests)
    select tenant_id, project_id, repository_identifier, platform, status, coalesce(task_type, '') as task_type,
      sum(n) as n
    from (select *, 1 as n from added) changed
    group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 order by 1, 2, 3, 4, 5, 6
    on conflict (tenant_id, project_id, repository_identifier, platform, status, task_type)
      do update set requests = t.requests + excluded.requests;
  elsif tg_op = 'UPDATE' then
    insert into work_item_request_tally as t
      (tenant_id, project_id, repository_identifier, platform, status, task_type, requests)
    select tenant_id, project_id, repository_identifier, platform, status, coalesce(task_type, '') as task_type,
      sum(n) as n
    from (select *, -1 as n from removed union all select *, 1 from added) changed
    group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 order by 1, 2, 3, 4, 5, 6
    on conflict (tenant_id, project_id, repository_identifier, platform, status, task_type)
      do update set requests = t.requests + excluded.requests;
  else
    -- With a project its counts are removed, too.
    update work_item_request_tally t set requests = t.requests - gone.n
    from (
      select tenant_id, project_id, repository_identifier, platform, status, coalesce(task_type, '') as task_type,
        sum(n) as n
      from (select *, 1 as n from removed) changed
      group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 order by 1, 2, 3, 4, 5, 6) gone
    where (t.tenant_id, t.project_id, t.repository_identifier, t.platform, t.status, t.task_type)
      = (gone.tenant_id, gone.project_id, gone.repository_identifier, gone.platform, gone.status, gone.task_type);
  end if;
  return null;
end $$;
revoke all on function follow_work_item_requests() from public;

create or replace trigger followed_on_delete after delete on work_item_request referencing old table as removed
  for each statement execute function follow_work_item_requests();
create or replace trigger followed_on_insert after insert on work_item_request referencing new table as added
  for each statement execute function follow_work_item_requests();
create or replace trigger followed_on_update after update on work_item_request
  referencing old table as removed new table as added
  for each statement execute function follow_work_item_requests();
