create or replace function purge_sign_in_failures() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from sign_in_failure where ctid = any (array(
      select ctid from sign_in_failure where expire < extract(epoch from now()) * 1000 limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_sign_in_failures() from public;
grant execute on function purge_sign_in_failures() to :system_role;
