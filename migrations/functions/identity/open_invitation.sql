create or replace function open_invitation(hash text)
  returns table (tenant_id uuid, invitation_id uuid, user_id uuid, email text, role text, has_password boolean)
  language sql stable security definer set search_path = public, pg_temp as $$
  select i.tenant_id, v.id, coalesce(u.id, v.id), coalesce(v.email, u.email),
    case when v.id is null then (select m.role from membership m where m.tenant_id = i.tenant_id and m.user_id = u.id
      order by role_rank(m.role) desc limit 1)
      else (select m.role from invited_membership m where m.tenant_id = i.tenant_id and m.user_id = v.id
        order by role_rank(m.role) desc limit 1) end,
    coalesce(u.password_hash is not null, false)
  from invitation i
  left join invited_user v on v.id = i.invited_user_id
  left join user_alias a on a.email = v.email
  left join user_account u on u.id = coalesce(i.user_id, a.user_id)
  where i.token_hash = hash and i.used_at is null and i.expires_at > now()
    and (v.id is not null or (u.password_hash is null
      and exists (select from membership m where m.tenant_id = i.tenant_id and m.user_id = u.id))) $$;
revoke all on function open_invitation(text) from public;
grant execute on function open_invitation(text) to :app_role;
