create or replace function gc_unreadable_elsewhere(of_project uuid, of_branch text) returns int
  language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::int
  from project p
  join document d on d.tenant_id = p.tenant_id and d.store = 'packages'
    and d.collection = any (array['manifests/' || p.identifier || ':' || of_branch,
      'manifests/' || p.identifier || ':' || p.default_branch])
  where p.tenant_id = current_tenant() and p.id <> of_project
    and (current_projects() is null or of_project = any (current_projects()))
    and gc_is_package(d.value #> '{payload,Package}') is not true $$;
revoke all on function gc_unreadable_elsewhere(uuid, text) from public;
grant execute on function gc_unreadable_elsewhere(uuid, text) to :app_role;
