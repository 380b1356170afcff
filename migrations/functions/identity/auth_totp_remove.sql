create or replace function auth_totp_remove(person uuid) returns boolean
  language sql security definer set search_path = public, pg_temp as $$
  with removed as (delete from user_totp where user_id = person returning 1) select exists (select from removed) $$;
revoke all on function auth_totp_remove(uuid) from public;
grant execute on function auth_totp_remove(uuid) to :app_role;
