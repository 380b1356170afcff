create or replace function invitations_of(person uuid)
  returns table (id uuid, tenant_id uuid, email text, invited_by text, role text, teams text[], created_at timestamptz)
  language sql stable security definer set search_path = public, pg_temp as $$
  select v.id, v.tenant_id, v.email, v.invited_by, (select m.role from invited_membership m
    where m.tenant_id = v.tenant_id and m.user_id = v.id order by role_rank(m.role) desc limit 1),
    array(select t.slug from invited_membership m join team t on t.tenant_id = m.tenant_id and t.id = m.team_id
      where m.tenant_id = v.tenant_id and m.user_id = v.id order by t.slug),
    v.created_at
  from invited_user v
  where v.email in (select a.email from user_alias a where a.user_id = person)
  order by v.created_at, v.id $$;
revoke all on function invitations_of(uuid) from public;
grant execute on function invitations_of(uuid) to :app_role;
