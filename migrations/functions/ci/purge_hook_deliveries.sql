create or replace function purge_hook_deliveries() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from hook_delivery where ctid = any (array(
      select ctid from hook_delivery where received_at < now() - interval '8 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_hook_deliveries() from public;
grant execute on function purge_hook_deliveries() to :system_role;
