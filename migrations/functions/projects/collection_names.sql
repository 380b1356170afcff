create or replace function collection_names(for_tenant uuid, of_projects uuid[]) returns jsonb
  language sql stable set search_path = public, pg_temp as $$
  with own as (
    select p.identifier, p.configuration->'documentCollections' as patterns
    from project p where p.tenant_id = for_tenant and p.id = any (of_projects))
  select jsonb_build_object(
    'identifiers', array(select o.identifier from own o order by 1),
    'patterns', array(select distinct n from own o, jsonb_array_elements_text(o.patterns) n order by 1),
    'others', array(
      select p.identifier from project p
      where p.tenant_id = for_tenant and p.id <> all (of_projects)
        and exists (select from own o where starts_with(p.identifier, o.identifier || '/'))
      order by 1)) $$;
revoke all on function collection_names(uuid, uuid[]) from public;
