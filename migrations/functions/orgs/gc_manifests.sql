-- A limited token has no manifests of other projects, and often none of its own: what they say of its entries it may
-- know.
create or replace function gc_manifests(of_project uuid, of_branch text)
  returns table (package_name text, kind text, component_type text, full_name text)
  language sql stable security definer set search_path = public, pg_temp rows 20000 as $$
  select d.key, c.kind, c.component_type, c.full_name
  from project p
  join document d on d.tenant_id = p.tenant_id and d.store = 'packages'
    and d.collection = 'manifests/' || p.identifier || ':' || of_branch
  cross join lateral (
    select d.value #> '{payload,Package}' as has, d.value->'destructiveChanges' as change,
      d.value #> '{destructiveChanges,Package}' as destroys offset 0) v
  cross join lateral (
    select gc_is_package(v.has) and (coalesce(jsonb_typeof(v.change), 'null') = 'null' or v.change = '""'
      or jsonb_typeof(v.change) = 'object' and (v.destroys is null or v.destroys = '""' or gc_is_package(v.destroys)))
      as is_readable offset 0) r
  cross join lateral (
    select case when r.is_readable then 'manifest' else 'unreadable' end as kind, null as component_type,
      null as full_name
    union all
    select 'has', h.component_type, h.full_name from gc_components(v.has) h where r.is_readable
    union all
    select 'destroys', h.component_type, h.full_name from gc_components(v.destroys) h where r.is_readable) c
  where p.tenant_id = current_tenant() and p.id = of_project
    and (current_projects() is null or p.id = any (current_projects())) $$;
revoke all on function gc_manifests(uuid, text) from public;
grant execute on function gc_manifests(uuid, text) to :app_role;
