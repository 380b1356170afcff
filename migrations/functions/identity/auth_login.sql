create or replace function auth_login(login_email text, tenant_slug text)
  returns table (user_id uuid, email text, password_hash text, tenant_id uuid, role text, invitation_id uuid,
    tenants text[], invited_to text[])
  language sql stable security definer set search_path = public, pg_temp as $$
  select u.id, u.email, u.password_hash, p.tenant_id, p.role, p.invitation_id, p.tenants, p.invited_to
  from user_account u cross join lateral auth_place(u.id, u.email, tenant_slug) p
  where u.email = lower(login_email) $$;
revoke all on function auth_login(text, text) from public;
grant execute on function auth_login(text, text) to :app_role;
