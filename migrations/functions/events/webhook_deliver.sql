-- One call, one transaction, one round trip, as webhook_trigger. What an entry says of its webhook is known only
-- here; to_json writes texts as canonical JSON (RFC 8785) does.
create or replace function webhook_deliver(for_tenant uuid, delivery_ids uuid[], webhook_ids uuid[], payloads text[],
  traceparents text[],
  audit_entries jsonb[])
  returns table (request int, status text, failure_reason text, event text, url text, method text)
  language plpgsql set search_path = public, pg_temp as $$
begin
  perform set_config('app.tenant_id', for_tenant::text, true);
  return query
    with asked as materialized (
      select r.ordinality::int as request, r.id, r.payload, r.traceparent, r.entry, w.id as webhook_id,
        w.repository_identifier,
        'Webhook ' || w.name || ': delivery queued' as summary, w.status, w.failure_reason, w.event, w.url, w.method
      from unnest(delivery_ids, webhook_ids, payloads, traceparents, audit_entries)
        with ordinality as r (id, webhook_id, payload, traceparent, entry)
      join webhook w on w.tenant_id = for_tenant and w.id = r.webhook_id and w.deleted_at is null),
    inserted as (
      insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
      select a.id, for_tenant, a.webhook_id, a.event, a.payload::json, a.traceparent from asked a
        where a.status = 'active'),
    audited as materialized (
      select audit_append(for_tenant, jsonb_agg(a.entry || jsonb_build_object(
        'repositoryIdentifier', a.repository_identifier,
        'summary', a.summary,
        'middle', '","repositoryIdentifier":' || coalesce(to_json(a.repository_identifier)::text, 'null')
          || ',"requestId":' || coalesce(to_json(a.entry->>'requestId')::text, 'null') || ',"sequence":',
        'tail', ',"source":' || to_json(a.entry->>'source') || ',"summary":' || to_json(a.summary) || '}')
        order by a.request))
      from asked a where a.status = 'active' having count(*) > 0)
    select a.request, a.status, a.failure_reason, a.event, a.url, a.method from asked a left join audited on true;
end $$;
revoke all on function webhook_deliver(uuid, uuid[], uuid[], text[], text[], jsonb[]) from public;
grant execute on function webhook_deliver(uuid, uuid[], uuid[], text[], text[], jsonb[]) to :app_role;
