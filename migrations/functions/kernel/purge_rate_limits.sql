create or replace function purge_rate_limits() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from rate_limit where ctid = any (array(
      select ctid from rate_limit where expires_at < now() limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_rate_limits() from public;
grant execute on function purge_rate_limits() to :system_role;
