create or replace function tenant_slug(tenant uuid) returns text
  language sql stable parallel safe security definer set search_path = public, pg_temp as $$
  select slug from tenant t where t.id = tenant $$;
revoke all on function tenant_slug(uuid) from public;
grant execute on function tenant_slug(uuid) to :app_role, :system_role;
