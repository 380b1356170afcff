-- Locks are always taken in one order: collections, documents, the head of the audit trail.
create or replace function document_write(for_tenant uuid, requests jsonb, written_at timestamptz)
  returns table (request int, is_written boolean, version int, created_at timestamptz, webhook_ids uuid[])
  language plpgsql set search_path = public, pg_temp as $$
declare
  item record;
  done record;
  written int[] := '{}';
  places int[] := '{}';
  versions int[] := '{}';
  moments timestamptz[] := '{}';
  to_wake uuid[];
begin
  perform set_config('app.tenant_id', for_tenant::text, true);
  insert into document_collection (tenant_id, id, name)
    select for_tenant, uuidv7(), n.name
    from (select distinct o->>'collection' collate "C" as name from jsonb_array_elements(requests) o
      where o->>'expected' is null) n
    order by n.name
    on conflict do nothing;
  perform from document_collection c
    where c.tenant_id = for_tenant
      and c.name = any (array(select distinct o->>'collection' collate "C" from jsonb_array_elements(requests) o))
    order by c.name for key share;
  for item in
    select o.ordinality::int as place, o.value->>'store' as store, o.value->>'collection' as collection,
      o.value->>'key' as key, o.value->'value' as value, (o.value->>'size')::int as size_bytes,
      (o.value->>'expected')::int as expected, (o.value->>'kept')::int as kept, o.value->>'writer' as writer
    from jsonb_array_elements(requests) with ordinality as o
    order by o.value->>'collection' collate "C", o.value->>'store' collate "C", o.value->>'key' collate "C",
      o.ordinality
  loop
    if item.expected is null then
      insert into document values (for_tenant, item.store, item.collection, item.key, 1, item.value, item.size_bytes,
          written_at, written_at, item.writer)
        on conflict do nothing
        returning document.version, document.created_at into done;
    elsif item.kept = 0 then
      update document d
        set value = item.value, version = d.version + 1, size_bytes = item.size_bytes, updated_at = written_at,
          updated_by = item.writer
        where d.tenant_id = for_tenant and d.store = item.store and d.collection = item.collection
          and d.key = item.key and d.version = item.expected
        returning d.version, d.created_at into done;
    else
      with changed as (
        update document d
        set value = item.value, version = d.version + 1, size_bytes = item.size_bytes, updated_at = written_at,
          updated_by = item.writer
        where d.tenant_id = for_tenant and d.store = item.store and d.collection = item.collection
          and d.key = item.key and d.version = item.expected
        returning new.version, new.created_at, old.value as old_value, old.size_bytes as old_size,
          old.updated_at as old_at, old.updated_by as old_by),
      kept as (
        insert into document_version
        select for_tenant, item.store, item.collection, item.key, item.expected, c.old_value, c.old_size, c.old_at,
          c.old_by
        from changed c)
      select c.version, c.created_at from changed c into done;
      delete from document_version v
        where v.tenant_id = for_tenant and v.store = item.store and v.collection = item.collection and v.key = item.key
          and v.version <= item.expected - item.kept and done.version is not null;
    end if;
    places := places || item.place;
    moments := moments || done.created_at;
    if done.version is not null then
      written := written || item.place;
      versions := versions || done.version;
    else
      versions := versions || (
        select d.version from document d where d.tenant_id = for_tenant and d.store = item.store
          and d.collection = item.collection and d.key = item.key);
    end if;
  end loop;
  if cardinality(written) > 0 then
    with queued as materialized (
      select uuidv7() as id, s.webhook_id, o.value->>'event' as event, o.value->'data' as data,
        o.value->>'traceparent' as traceparent
      from jsonb_array_elements(requests) with ordinality as o
      join webhook_subscription s on s.tenant_id = for_tenant
        and s.event in (o.value->>'event', event_group(o.value->>'event'))
      where o.ordinality = any (written)
      order by o.ordinality),
    inserted as (
      insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
      select q.id, for_tenant, q.webhook_id, q.event, q.data::json, q.traceparent from queued q)
    select array_agg(distinct q.webhook_id) from queued q into to_wake;
    perform audit_append(for_tenant, (
      select jsonb_agg(o.value->'audit' order by o.ordinality)
      from jsonb_array_elements(requests) with ordinality as o where o.ordinality = any (written)));
  end if;
  return query
    select o.place, o.moment is not null, o.version, o.moment, to_wake
    from unnest(places, versions, moments) as o (place, version, moment);
end $$;
revoke all on function document_write(uuid, jsonb, timestamptz) from public;
grant execute on function document_write(uuid, jsonb, timestamptz) to :app_role;
