-- Behind the fence no index on content is of use: its operator is not leakproof. This finds keys of the tenant alone.
create or replace function document_matches(in_store text, content jsonb, at_most int)
  returns table (collection text, key text, version int, value jsonb, size_bytes int)
  language sql stable security definer set search_path = public, pg_temp
  set plan_cache_mode = force_generic_plan rows 100 as $$
  select d.collection, d.key, d.version, d.value, d.size_bytes from document d
  where jsonb_set('{}', array[d.tenant_id::text || d.store], d.value)
      @> jsonb_build_object(coalesce(current_tenant()::text, '') || in_store, content)
    and d.tenant_id is not distinct from current_tenant()
    and case when (select current_projects()) is null then true
      else d.collection ~ any ((select current_collections())::text[]) end
  limit at_most $$;
revoke all on function document_matches(text, jsonb, int) from public;
grant execute on function document_matches(text, jsonb, int) to :app_role;
