create or replace function set_password(person uuid, new_hash text, kept_session uuid) returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update user_account set password_hash = new_hash, updated_at = now() where id = person;
  update auth_session set revoked_at = now()
    where user_id = person and revoked_at is null and id is distinct from kept_session;
end $$;
revoke all on function set_password(uuid, text, uuid) from public;
grant execute on function set_password(uuid, text, uuid) to :app_role;
