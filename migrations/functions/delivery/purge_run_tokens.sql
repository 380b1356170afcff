create or replace function purge_run_tokens() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from run_token where ctid = any (array(
      select ctid from run_token where expires_at < now() limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_run_tokens() from public;
grant execute on function purge_run_tokens() to :system_role;
