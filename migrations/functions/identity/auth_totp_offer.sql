create or replace function auth_totp_offer(person uuid, new_secret text) returns boolean
  language sql security definer set search_path = public, pg_temp as $$
  with offered as (
    insert into user_totp as t (user_id, secret) values (person, new_secret)
    on conflict (user_id) do update set secret = new_secret, last_step = 0, created_at = now()
      where t.confirmed_at is null
    returning 1)
  select exists (select from offered) $$;
revoke all on function auth_totp_offer(uuid, text) from public;
grant execute on function auth_totp_offer(uuid, text) to :app_role;
