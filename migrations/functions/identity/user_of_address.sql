create or replace function user_of_address(address text) returns uuid
  language sql stable security definer set search_path = public, pg_temp as $$
  select user_id from user_alias where email = lower(address) $$;
revoke all on function user_of_address(text) from public;
grant execute on function user_of_address(text) to :app_role;
