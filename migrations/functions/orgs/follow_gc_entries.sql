create or replace function follow_gc_entries() returns trigger
  language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  -- In key order, so that writers of the same counts wait for each other and never in a circle.
  if tg_op <> 'INSERT' then
    update gc_tally t set entries = t.entries - gone.n
    from (select tenant_id, project_id, branch, package_name, status, count(*) as n
      from removed group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5) gone
    where (t.tenant_id, t.project_id, t.branch, t.package_name, t.status)
      = (gone.tenant_id, gone.project_id, gone.branch, gone.package_name, gone.status);
  end if;
  if tg_op <> 'DELETE' then
    insert into gc_tally as t
    select tenant_id, project_id, branch, package_name, status, count(*)
    from added group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (tenant_id, project_id, branch, package_name, status)
      do update set entries = t.entries + excluded.entries;
  end if;
  if tg_op = 'DELETE' then
    delete from gc_event v using removed r where v.tenant_id = r.tenant_id and v.entry_id = r.id;
    delete from gc_presence p using removed r where p.tenant_id = r.tenant_id and p.entry_id = r.id;
  end if;
  return null;
end $$;
revoke all on function follow_gc_entries() from public;

create or replace trigger followed_on_delete after delete on gc_entry referencing old table as removed
  for each statement execute function follow_gc_entries();
create or replace trigger followed_on_insert after insert on gc_entry referencing new table as added
  for each statement execute function follow_gc_entries();
create or replace trigger followed_on_update after update on gc_entry
  referencing old table as removed new table as added
  for each statement execute function follow_gc_entries();
