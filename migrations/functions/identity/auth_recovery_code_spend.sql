create or replace function auth_recovery_code_spend(person uuid, hash text) returns boolean
  language sql security definer set search_path = public, pg_temp as $$
  with spent as (delete from user_recovery_code where user_id = person and code_hash = hash returning 1)
  select exists (select from spent) $$;
revoke all on function auth_recovery_code_spend(uuid, text) from public;
grant execute on function auth_recovery_code_spend(uuid, text) to :app_role;
