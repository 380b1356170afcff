create or replace function purge_lock_tickets() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from environment_lock_ticket where ctid = any (array(
      select ctid from environment_lock_ticket where ended_at < now() - interval '90 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_lock_tickets() from public;
grant execute on function purge_lock_tickets() to :system_role;
