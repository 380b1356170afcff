create or replace function mock_workspace_of(hash text) returns table (tenant_id uuid, workspace_id uuid)
  language sql stable security definer set search_path = public, pg_temp as $$
  select w.tenant_id, w.id from mock_workspace w where w.key_hash = hash $$;
revoke all on function mock_workspace_of(text) from public;
grant execute on function mock_workspace_of(text) to :app_role;
