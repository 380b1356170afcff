create or replace function auth_sessions(ids uuid[])
  returns table (id uuid, user_id uuid, tenant_id uuid, email text, role text)
  language sql stable security definer set search_path = public, pg_temp
  set plan_cache_mode = force_generic_plan as $$
  select s.id, s.user_id, s.tenant_id, u.email,
    (select m.role from membership m where m.user_id = s.user_id and m.tenant_id = s.tenant_id
      order by role_rank(m.role) desc limit 1)
  from auth_session s join user_account u on u.id = s.user_id
  where s.id = any (ids) and s.revoked_at is null and s.expires_at > now() $$;
revoke all on function auth_sessions(uuid[]) from public;
grant execute on function auth_sessions(uuid[]) to :app_role;
