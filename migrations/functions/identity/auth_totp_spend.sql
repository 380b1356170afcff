create or replace function auth_totp_spend(person uuid, step bigint) returns boolean
  language sql security definer set search_path = public, pg_temp as $$
  with spent as (update user_totp set last_step = step where user_id = person and last_step < step returning 1)
  select exists (select from spent) $$;
revoke all on function auth_totp_spend(uuid, bigint) from public;
grant execute on function auth_totp_spend(uuid, bigint) to :app_role;
