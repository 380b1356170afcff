create or replace function auth_totp(person uuid) returns table (secret text, is_confirmed boolean)
  language sql security definer set search_path = public, pg_temp as $$
  select secret, confirmed_at is not null from user_totp where user_id = person $$;
revoke all on function auth_totp(uuid) from public;
grant execute on function auth_totp(uuid) to :app_role;
