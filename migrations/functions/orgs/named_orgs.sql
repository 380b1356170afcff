-- Runs with the rights of the caller: of environments and projects it sees those that the caller sees.
create or replace function named_orgs() returns setof text language sql stable parallel safe
  set search_path = public, pg_temp as $$
  select lower(e.org_username) from environment e
  where e.tenant_id = (select current_tenant()) and e.org_username is not null
  union
  select lower(e.dev_hub_username) from environment e
  where e.tenant_id = (select current_tenant()) and e.dev_hub_username is not null
  union
  select lower(hub) from project p,
    jsonb_array_elements_text(case jsonb_typeof(p.configuration->'devHubs') when 'array'
      then p.configuration->'devHubs' else '[]' end) hub
  where p.tenant_id = (select current_tenant()) $$;
revoke all on function named_orgs() from public;
grant execute on function named_orgs() to :app_role;
