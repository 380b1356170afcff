create or replace function purge_privilege_grants() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from privilege_grant where ctid = any (array(
      select ctid from privilege_grant
      where state not in ('intended', 'granted') and updated_at < now() - interval '90 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_privilege_grants() from public;
grant execute on function purge_privilege_grants() to :system_role;
