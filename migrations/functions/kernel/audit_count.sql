create or replace function audit_count(for_tenant uuid, first_sequence bigint) returns void
  language sql security definer set search_path = public, pg_temp as $$
  insert into audit_tally (tenant_id, facet, value, hour, entries)
  select e.tenant_id, kind.facet, kind.value, date_trunc('hour', e.occurred_at, 'UTC'), count(*)
  from audit_entry e
  cross join lateral audit_facets(e.source, e.action, e.actor_email, e.actor_id, e.repository_identifier) as kind
  where e.tenant_id = for_tenant and e.sequence >= first_sequence
  group by 1, 2, 3, 4
  on conflict (tenant_id, facet, value, hour) do update set entries = audit_tally.entries + excluded.entries $$;
revoke all on function audit_count(uuid, bigint) from public;
