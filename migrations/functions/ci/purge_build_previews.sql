create or replace function purge_build_previews() returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from build_preview where ctid = any (array(
      select ctid from build_preview where requested_at < now() - interval '30 days' limit 10000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_build_previews() from public;
grant execute on function purge_build_previews() to :system_role;
