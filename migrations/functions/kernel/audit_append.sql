-- Only the chain of hashes is made entry by entry.
create or replace function audit_append(for_tenant uuid, entries jsonb) returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
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
    select for_tenant, before_first + e.place, e.id, e."occurredAt", e.source, e.action, e.actor,
      e."repositoryIdentifier",
      e."entityType", e."entityId", e.summary, nullif(e.before, 'null'), nullif(e.after, 'null'), e."requestId",
      hashes[e.place], hashes[e.place + 1]
    from rows from (jsonb_to_recordset(entries) as (id uuid, "occurredAt" timestamptz, source text, action text,
      actor jsonb,
      "repositoryIdentifier" text, "entityType" text, "entityId" text, summary text, before jsonb, after jsonb,
        "requestId" text))
      with ordinality as e (id, "occurredAt", source, action, actor, "repositoryIdentifier", "entityType", "entityId",
        summary,
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
revoke all on function audit_append(uuid, jsonb) from public;
grant execute on function audit_append(uuid, jsonb) to :app_role;
