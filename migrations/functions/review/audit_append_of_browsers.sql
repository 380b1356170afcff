create or replace function audit_append_of_browsers(for_tenant uuid, entries jsonb) returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (
    select from jsonb_to_recordset(entries) as e (source text, action text, "entityType" text, "entityId" text)
    where e.source is distinct from 'browser' or e."entityType" is distinct from 'browser_session'
      or coalesce(e.action, '') not in
        ('browser_session.live', 'browser_session.control_taken', 'browser_session.recording_ready')
      or not exists (select from browser_session s
        where s.tenant_id = for_tenant and s.id::text = e."entityId" and provider = 'local'
          and (ended_at is null or updated_at > now() - interval '1 day' or recording_state = 'processing'
            or removed_at is not null))) then
    raise insufficient_privilege using message = 'a host of browsers audits what it does with its sessions alone';
  end if;
  perform audit_append(for_tenant, entries);
end $$;
revoke all on function audit_append_of_browsers(uuid, jsonb) from public;
grant execute on function audit_append_of_browsers(uuid, jsonb) to :browsers_role;
