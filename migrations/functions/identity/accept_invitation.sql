-- Null: there is no such invitation, or its address is not the person's.
create or replace function accept_invitation(invitation uuid, person uuid) returns uuid
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  invited invited_user;
  account uuid;
begin
  select * into invited from invited_user where id = invitation for update;
  if not found then return null; end if;
  loop
    select user_id into account from user_alias where email = invited.email;
    if coalesce(account, invited.id) <> person then return null; end if;
    exit when account is not null;
    begin
      insert into user_account (id, email) values (invited.id, invited.email);
    exception when unique_violation then
      -- Somebody made the account, or the alias, at this moment: the next look finds it.
      null;
    end;
  end loop;
  -- A member who is invited by another address keeps a higher role: the tenant's last owner, for one.
  insert into membership as m (id, tenant_id, team_id, user_id, role)
    select i.id, i.tenant_id, i.team_id, account, i.role from invited_membership i
    where i.tenant_id = invited.tenant_id and i.user_id = invited.id
    on conflict (tenant_id, team_id, user_id) do update set role = excluded.role, updated_at = now()
      where role_rank(excluded.role) > role_rank(m.role);
  insert into user_profile (tenant_id, user_id, first_name, last_name)
    values (invited.tenant_id, account, invited.first_name, invited.last_name) on conflict do nothing;
  delete from invited_user where id = invited.id;
  return account;
end $$;
revoke all on function accept_invitation(uuid, uuid) from public;
grant execute on function accept_invitation(uuid, uuid) to :app_role;
