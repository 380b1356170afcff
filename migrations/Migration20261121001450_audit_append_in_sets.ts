import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, privileged } from './fences.ts';

/** A batch of audit entries is inserted and counted by one statement, and payloads to one webhook are queued in batches. */
export class AuditAppendInSets extends Migration {
  override up(): void {
    // What the trail is counted by; without settings of its own, so that it is inlined.
    this.addSql(`
      create function audit_facets(source text, action text, actor_email text, actor_id text, repository_identifier text)
        returns table (facet text, value text) language sql immutable as $$
          select kind.facet, kind.value
          from (values ('all', ''), ('source', source), ('action', action), ('actor', actor_email),
            ('actor', nullif(actor_id, actor_email)), ('repository', repository_identifier)) as kind (facet, value)
          where kind.value is not null $$;
      revoke all on function audit_facets(text, text, text, text, text) from public;
      create or replace function audit_count(for_tenant uuid, first_sequence bigint) returns void
        language sql volatile security definer set search_path = public, pg_temp as $$
          insert into audit_tally (tenant_id, facet, value, hour, entries)
          select e.tenant_id, kind.facet, kind.value, date_trunc('hour', e.occurred_at, 'UTC'), count(*)
          from audit_entry e
          cross join lateral audit_facets(e.source, e.action, e.actor_email, e.actor_id, e.repository_identifier) as kind
          where e.tenant_id = for_tenant and e.sequence >= first_sequence
          group by 1, 2, 3, 4
          on conflict (tenant_id, facet, value, hour) do update set entries = audit_tally.entries + excluded.entries $$`);
    // Only the chain of hashes is made entry by entry.
    this.addSql(`
      create or replace function audit_append(for_tenant uuid, entries jsonb) returns void
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
      declare
        before_first bigint;
        last_hash text;
        -- That of the entry before the first, then one for each entry.
        hashes text[];
        place int := 0;
        head text;
        middle text;
        tail text;
      begin
        if for_tenant is distinct from current_tenant() then
          raise insufficient_privilege using message = 'an audit entry belongs to the tenant that is set';
        end if;
        select sequence, hash into before_first, last_hash from audit_head where tenant_id = for_tenant for update;
        if not found then
          insert into audit_head values (for_tenant, 0, repeat('0', 64)) on conflict do nothing;
          select sequence, hash into before_first, last_hash from audit_head where tenant_id = for_tenant for update;
        end if;
        hashes[1] := last_hash;
        for head, middle, tail in
          select e.value->>'head', e.value->>'middle', e.value->>'tail' from jsonb_array_elements(entries) as e
        loop
          place := place + 1;
          last_hash := encode(sha256(convert_to(
            last_hash || head || last_hash || middle || (before_first + place) || tail, 'UTF8')), 'hex');
          hashes[place + 1] := last_hash;
        end loop;
        with appended as (
          insert into audit_entry (tenant_id, sequence, id, occurred_at, source, action, actor, repository_identifier,
            entity_type, entity_id, summary, before, after, request_id, prev_hash, hash)
          select for_tenant, before_first + e.place, e.id, e."occurredAt", e.source, e.action, e.actor, e."repositoryIdentifier",
            e."entityType", e."entityId", e.summary, nullif(e.before, 'null'), nullif(e.after, 'null'), e."requestId",
            hashes[e.place], hashes[e.place + 1]
          from rows from (jsonb_to_recordset(entries) as (id uuid, "occurredAt" timestamptz, source text, action text, actor jsonb,
            "repositoryIdentifier" text, "entityType" text, "entityId" text, summary text, before jsonb, after jsonb, "requestId" text))
            with ordinality as e (id, "occurredAt", source, action, actor, "repositoryIdentifier", "entityType", "entityId", summary,
              before, after, "requestId", place)
          returning occurred_at, source, action, actor_email, actor_id, repository_identifier)
        insert into audit_tally (tenant_id, facet, value, hour, entries)
        select for_tenant, kind.facet, kind.value, date_trunc('hour', a.occurred_at, 'UTC'), count(*)
        from appended a
        cross join lateral audit_facets(a.source, a.action, a.actor_email, a.actor_id, a.repository_identifier) as kind
        group by 2, 3, 4
        on conflict (tenant_id, facet, value, hour) do update set entries = audit_tally.entries + excluded.entries;
        update audit_head set sequence = before_first + place, hash = last_hash where tenant_id = for_tenant;
      end $$;
      ${privileged('audit_append(uuid, jsonb)')}`);
    // One call, one transaction, one round trip, as webhook_trigger. What an entry says of its webhook is known only
    // here; to_json writes texts as canonical JSON (RFC 8785) does.
    this.addSql(`
      create function webhook_deliver(for_tenant uuid, delivery_ids uuid[], webhook_ids uuid[], payloads text[], traceparents text[],
          audit_entries jsonb[])
        returns table (request int, status text, failure_reason text, event text, url text, method text)
        language plpgsql volatile security invoker set search_path = public, pg_temp as $$
      begin
        perform set_config('app.tenant_id', for_tenant::text, true);
        return query
          with asked as materialized (
            select r.ordinality::int as request, r.id, r.payload, r.traceparent, r.entry, w.id as webhook_id, w.repository_identifier,
              'Webhook ' || w.name || ': delivery queued' as summary, w.status, w.failure_reason, w.event, w.url, w.method
            from unnest(delivery_ids, webhook_ids, payloads, traceparents, audit_entries)
              with ordinality as r (id, webhook_id, payload, traceparent, entry)
            join webhook w on w.tenant_id = for_tenant and w.id = r.webhook_id and w.deleted_at is null),
          inserted as (
            insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
            select a.id, for_tenant, a.webhook_id, a.event, a.payload::json, a.traceparent from asked a where a.status = 'active'),
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
      grant execute on function webhook_deliver(uuid, uuid[], uuid[], text[], text[], jsonb[]) to ${APP_ROLE}`);
  }
}
