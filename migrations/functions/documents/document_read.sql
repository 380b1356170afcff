-- Requests of many tenants in one round trip, each behind its own fence; with the caller's rights.
create or replace function document_read(requests jsonb)
  returns table (request int, version int, value text, created_at timestamptz, updated_at timestamptz)
  language plpgsql set search_path = public, pg_temp as $$
declare
  item record;
begin
  for item in
    select o.ordinality::int as place, (o.value->>'tenant')::uuid as tenant, o.value->>'store' as store,
      o.value->>'collection' as collection, o.value->>'key' as key
    from jsonb_array_elements(requests) with ordinality as o
  loop
    perform set_config('app.tenant_id', item.tenant::text, true);
    return query
      select item.place, d.version, d.value::text, d.created_at, d.updated_at from document d
      where d.tenant_id = item.tenant and d.store = item.store and d.collection = item.collection and d.key = item.key;
  end loop;
end $$;
revoke all on function document_read(jsonb) from public;
grant execute on function document_read(jsonb) to :app_role;
