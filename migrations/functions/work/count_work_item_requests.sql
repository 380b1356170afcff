create or replace function count_work_item_requests() returns trigger
  language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  -- In key order, so that writers of the same counts wait for each other and never in a circle.
  if tg_op = 'INSERT' then
    insert into work_item_request_count as t (tenant_id, project_id, kind, value, status, requests)
    select tenant_id, project_id, kind, value, status, sum(n) as n
    from (select *, 1 as n from added) r
    cross join lateral (values
      ('creator', r.created_by), ('month', to_char(r.created_at at time zone 'UTC', 'YYYY-MM'))) v (kind, value)
    group by 1, 2, 3, 4, 5 having sum(n) <> 0 order by 1, 2, 3, 4, 5
    on conflict (tenant_id, project_id, kind, value, status) do update set requests = t.requests + excluded.requests;
  elsif tg_op = 'UPDATE' then
    insert into work_item_request_count as t (tenant_id, project_id, kind, value, status, requests)
    select tenant_id, project_id, kind, value, status, sum(n) as n
    from (select *, -1 as n from removed union all select *, 1 from added) r
    cross join lateral (values
      ('creator', r.created_by), ('month', to_char(r.created_at at time zone 'UTC', 'YYYY-MM'))) v (kind, value)
    group by 1, 2, 3, 4, 5 having sum(n) <> 0 order by 1, 2, 3, 4, 5
    on conflict (tenant_id, project_id, kind, value, status) do update set requests = t.requests + excluded.requests;
  else
    -- With a project its counts are removed, too.
    update work_item_request_count t set requests = t.requests - gone.n
    from (
      select tenant_id, project_id, kind, value, status, sum(n) as n
      from (select *, 1 as n from removed) r
      cross join lateral (values
        ('creator', r.created_by), ('month', to_char(r.created_at at time zone 'UTC', 'YYYY-MM'))) v (kind, value)
      group by 1, 2, 3, 4, 5 having sum(n) <> 0 order by 1, 2, 3, 4, 5) gone
    where (t.tenant_id, t.project_id, t.kind, t.value, t.status)
      = (gone.tenant_id, gone.project_id, gone.kind, gone.value, gone.status);
  end if;
  return null;
end $$;
revoke all on function count_work_item_requests() from public;

create or replace trigger counted_on_delete after delete on work_item_request referencing old table as removed
  for each statement execute function count_work_item_requests();
create or replace trigger counted_on_insert after insert on work_item_request referencing new table as added
  for each statement execute function count_work_item_requests();
create or replace trigger counted_on_update after update on work_item_request
  referencing old table as removed new table as added
  for each statement execute function count_work_item_requests();
