-- One call, one transaction, one round trip; with the caller's rights, so the fence holds inside.
create or replace function webhook_trigger(for_tenant uuid, events text[], payloads text[], traceparents text[],
  audit_entries jsonb)
  returns table (request int, delivery_id uuid, webhook_id uuid)
  language plpgsql set search_path = public, pg_temp as $$
begin
  perform set_config('app.tenant_id', for_tenant::text, true);
  return query
    with queued as materialized (
      select r.ordinality::int as request, uuidv7() as id, s.webhook_id, r.event, r.payload, r.traceparent
      from unnest(events, payloads, traceparents) with ordinality as r (event, payload, traceparent)
      join webhook_subscription s on s.tenant_id = for_tenant and s.event in (r.event, event_group(r.event))),
    inserted as (
      insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
      select q.id, for_tenant, q.webhook_id, q.event, q.payload::json, q.traceparent from queued q)
    select q.request, q.id, q.webhook_id from queued q;
  perform audit_append(for_tenant, audit_entries);
end $$;
revoke all on function webhook_trigger(uuid, text[], text[], text[], jsonb) from public;
grant execute on function webhook_trigger(uuid, text[], text[], text[], jsonb) to :app_role;
