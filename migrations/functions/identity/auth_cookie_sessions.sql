create or replace function auth_cookie_sessions(hashes text[])
  returns table (cookie_hash text, id uuid, user_id uuid, tenant_id uuid, email text, role text)
  language sql stable security definer set search_path = public, pg_temp
  set plan_cache_mode = force_generic_plan as $$
  select s.cookie_hash, a.* from auth_session s, auth_sessions(array[s.id]) a where s.cookie_hash = any (hashes) $$;
revoke all on function auth_cookie_sessions(text[]) from public;
grant execute on function auth_cookie_sessions(text[]) to :app_role;
