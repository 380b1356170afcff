create or replace function purge_reviews(days int) returns int
  language sql security definer set search_path = public, pg_temp as $$
  with assignments as (
    delete from review_assignment where ctid = any (array(
      select ctid from review_assignment
      where ended_at < now() - make_interval(days => days) and state in ('released', 'expired', 'failed')
      limit 5000)) returning 1),
  orgs as (
    delete from review_instance where ctid = any (array(
      select ctid from review_instance
      where state_changed_at < now() - make_interval(days => days) and state in ('expired', 'failed')
      limit 5000)) returning 1)
  select (select count(*) from assignments)::int + (select count(*) from orgs)::int $$;
revoke all on function purge_reviews(int) from public;
grant execute on function purge_reviews(int) to :system_role;
