create or replace function purge_invitations() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from invitation where ctid = any (array(
      select ctid from invitation where created_at < now() - interval '30 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_invitations() from public;
grant execute on function purge_invitations() to :system_role;
