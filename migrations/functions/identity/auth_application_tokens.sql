-- The replaced text of a token is found as long as it is let live; the reply names the hash that was asked for.
create or replace function auth_application_tokens(hashes text[])
  returns table (token_hash text, id uuid, tenant_id uuid, name text, project_ids uuid[], collection_names jsonb,
    is_use_stale boolean)
  language sql stable security definer set search_path = public, pg_temp as $$
  select t.token_hash, t.id, t.tenant_id, t.name, t.project_ids,
    case when t.project_ids is not null then collection_names(t.tenant_id, t.project_ids) end,
    t.last_used_at is null or t.last_used_at < now() - interval '1 minute'
  from application_token t
  where t.token_hash = any (hashes) and t.revoked_at is null and t.expires_at > now()
  union all
  select t.previous_hash, t.id, t.tenant_id, t.name, t.project_ids,
    case when t.project_ids is not null then collection_names(t.tenant_id, t.project_ids) end,
    t.last_used_at is null or t.last_used_at < now() - interval '1 minute'
  from application_token t
  where t.previous_hash = any (hashes) and t.revoked_at is null and t.expires_at > now()
    and t.previous_until > now() $$;
revoke all on function auth_application_tokens(text[]) from public;
grant execute on function auth_application_tokens(text[]) to :app_role;
