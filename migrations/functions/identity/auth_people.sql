-- The account of somebody who has none yet gets the id of the invitation.
create or replace function auth_people(emails text[], tenant_slug text default null)
  returns table (known_by text, user_id uuid, email text, is_new boolean, tenant_id uuid, role text,
    invitation_id uuid, tenants text[], invited_to text[])
  language sql stable security definer set search_path = public, pg_temp
  set plan_cache_mode = force_generic_plan as $$
  select e.known_by, coalesce(u.id, p.invitation_id), coalesce(u.email, lower(e.known_by)), u.id is null,
    p.tenant_id, p.role, p.invitation_id, p.tenants, p.invited_to
  from unnest(emails) as e (known_by)
  left join user_alias a on a.email = lower(e.known_by)
  left join user_account u on u.id = a.user_id
  cross join lateral auth_place(u.id, e.known_by, tenant_slug) p
  where u.id is not null or cardinality(p.invited_to) > 0 $$;
revoke all on function auth_people(text[], text) from public;
grant execute on function auth_people(text[], text) to :app_role;
