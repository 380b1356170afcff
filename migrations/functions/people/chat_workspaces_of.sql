-- A request comes without a tenant: the key in its address names that, and so whose secrets may have signed it.
create or replace function chat_workspaces_of(of_key text)
  returns table (tenant_id uuid, workspace_id uuid, team_id text, signing_secret text, is_active boolean)
  language sql stable security definer set search_path = public, pg_temp as $$
  select w.tenant_id, w.id, w.team_id, w.signing_secret, w.is_active
  from tenant t join chat_workspace w on w.tenant_id = t.id where t.chat_key = of_key $$;
revoke all on function chat_workspaces_of(text) from public;
grant execute on function chat_workspaces_of(text) to :app_role;
