create or replace function count_release_candidates() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- In key order, so that writers of the same counts wait for each other and never in a circle.
  if tg_op <> 'INSERT' then
    update release_candidate_count c set candidates = c.candidates - gone.n
    from (select tenant_id, project_id, domain, coalesce(branch, '') as branch, status, count(*) as n
      from removed group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5) gone
    where (c.tenant_id, c.project_id, c.domain, c.branch, c.status)
      = (gone.tenant_id, gone.project_id, gone.domain, gone.branch, gone.status);
  end if;
  if tg_op <> 'DELETE' then
    insert into release_candidate_count as c
    select tenant_id, project_id, domain, coalesce(branch, ''), status, count(*)
    from added group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (tenant_id, project_id, domain, branch, status)
      do update set candidates = c.candidates + excluded.candidates;
  end if;
  return null;
end $$;
revoke all on function count_release_candidates() from public;

create or replace trigger counted_on_delete after delete on release_candidate referencing old table as removed
  for each statement execute function count_release_candidates();
create or replace trigger counted_on_insert after insert on release_candidate referencing new table as added
  for each statement execute function count_release_candidates();
create or replace trigger counted_on_update after update on release_candidate
  referencing old table as removed new table as added
  for each statement execute function count_release_candidates();
