-- A password is set where there is none, and is needed there.
create or replace function use_invitation(hash text, new_hash text) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  opened record;
begin
  -- Of two that use a link at once, the second finds it used.
  perform from invitation where token_hash = hash for update;
  select * into opened from open_invitation(hash);
  if not found or (not opened.has_password and new_hash is null) then return false; end if;
  if opened.invitation_id is not null and accept_invitation(opened.invitation_id, opened.user_id) is null then
    return false;
  end if;
  update invitation set used_at = now(), updated_at = now() where token_hash = hash;
  -- Of two that use links of the same person at once, the second finds a password.
  perform from user_account where id = opened.user_id and password_hash is null for no key update;
  if found and new_hash is not null then
    perform set_password(opened.user_id, new_hash, null);
    return true;
  end if;
  return opened.invitation_id is not null;
end $$;
revoke all on function use_invitation(text, text) from public;
grant execute on function use_invitation(text, text) to :app_role;
