create or replace function purge_pull_requests(days int) returns int
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (
    delete from pull_request where ctid = any (array(
      select ctid from pull_request
      where coalesce(ended_at, changed_at) < now() - make_interval(days => days) and state in ('closed', 'merged')
      limit 5000)) returning 1)
  select count(*)::int from removed $$;
revoke all on function purge_pull_requests(int) from public;
grant execute on function purge_pull_requests(int) to :system_role;
