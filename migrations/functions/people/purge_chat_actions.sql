create or replace function purge_chat_actions() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from chat_action where ctid = any (array(
      select ctid from chat_action where created_at < now() - interval '8 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_chat_actions() from public;
grant execute on function purge_chat_actions() to :system_role;
