create or replace function purge_sessions() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from auth_session where ctid = any (array(
      select ctid from auth_session where expires_at < now()
        or revoked_at < now() - interval '30 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_sessions() from public;
grant execute on function purge_sessions() to :system_role;
