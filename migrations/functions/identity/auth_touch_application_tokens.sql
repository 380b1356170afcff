create or replace function auth_touch_application_tokens(ids uuid[]) returns void
  language sql security definer set search_path = public, pg_temp as $$
  update application_token set last_used_at = now()
  where id = any (ids) and (last_used_at is null or last_used_at < now() - interval '1 minute') $$;
revoke all on function auth_touch_application_tokens(uuid[]) from public;
grant execute on function auth_touch_application_tokens(uuid[]) to :app_role;
