create or replace function auth_refresh(hash text) returns table (tenant_id uuid, session_id uuid, user_id uuid,
  email text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select r.tenant_id, r.session_id, s.user_id, u.email
  from refresh_token r join auth_session s on s.id = r.session_id join user_account u on u.id = s.user_id
  where r.token_hash = hash $$;
revoke all on function auth_refresh(text) from public;
grant execute on function auth_refresh(text) to :app_role;
