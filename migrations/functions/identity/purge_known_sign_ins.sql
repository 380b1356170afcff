create or replace function purge_known_sign_ins() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from known_sign_in where ctid = any (array(
      select ctid from known_sign_in where expires_at < now() limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_known_sign_ins() from public;
grant execute on function purge_known_sign_ins() to :system_role;
