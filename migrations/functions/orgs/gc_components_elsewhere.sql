create or replace function gc_components_elsewhere(of_project uuid, of_branch text)
  returns table (project_id uuid, component_type text, full_name text)
  language sql stable security definer set search_path = public, pg_temp rows 20000 as $$
  select p.id, c.component_type, c.full_name
  from project p
  join document d on d.tenant_id = p.tenant_id and d.store = 'packages'
    and d.collection = any (array['manifests/' || p.identifier || ':' || of_branch,
      'manifests/' || p.identifier || ':' || p.default_branch])
  cross join lateral (select d.value #> '{payload,Package}' as has offset 0) v
  cross join lateral (select h.* from gc_components(v.has) h where gc_is_package(v.has)) c
  where p.tenant_id = current_tenant() and p.id <> of_project
    and (current_projects() is null or of_project = any (current_projects())) $$;
revoke all on function gc_components_elsewhere(uuid, text) from public;
grant execute on function gc_components_elsewhere(uuid, text) to :app_role;
