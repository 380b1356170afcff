create or replace function auth_totp_confirm(person uuid, code_hashes text[]) returns boolean
  language sql security definer set search_path = public, pg_temp as $$
  with confirmed as (update user_totp set confirmed_at = now() where user_id = person and confirmed_at is null
  returning user_id),
    codes as (insert into user_recovery_code (user_id, code_hash) select user_id, unnest(code_hashes) from confirmed)
  select exists (select from confirmed) $$;
revoke all on function auth_totp_confirm(uuid, text[]) from public;
grant execute on function auth_totp_confirm(uuid, text[]) to :app_role;
