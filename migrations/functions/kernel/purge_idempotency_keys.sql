create or replace function purge_idempotency_keys() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from idempotency_key where ctid = any (array(select ctid from idempotency_key
      where started_at < now() - interval '24 hours' limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_idempotency_keys() from public;
grant execute on function purge_idempotency_keys() to :system_role;
