create or replace function name_sandbox_in_environments(org uuid)
  returns table (id uuid, name text, repository_identifier text, short_name text)
  language sql security definer set search_path = public, pg_temp as $$
  update environment e set org_username = naming.username, version = e.version + 1, updated_at = now()
  from (
    select n.id, n.org_username, o.username, p.identifier
    from crm_org o
    join environment n on n.tenant_id = o.tenant_id and lower(n.org_username) = lower(o.sandbox_name)
    join project p on p.tenant_id = n.tenant_id and p.id = n.project_id
    where o.tenant_id = current_tenant() and o.id = org
      and not exists (select from crm_org other where other.tenant_id = o.tenant_id and other.id <> o.id
        and lower(o.sandbox_name) in (lower(other.username), lower(other.sandbox_name)))
    order by n.id
    for update of n) naming
  where e.tenant_id = current_tenant() and e.id = naming.id
  returning e.id, e.name, naming.identifier, naming.org_username $$;
revoke all on function name_sandbox_in_environments(uuid) from public;
grant execute on function name_sandbox_in_environments(uuid) to :app_role;
