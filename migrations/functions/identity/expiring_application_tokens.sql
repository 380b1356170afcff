-- Told a week ahead; of a token that lives for less than four weeks, in the last quarter of its life.
create or replace function expiring_application_tokens(max_rows int) returns table (id uuid, tenant_id uuid)
  language sql stable security definer set search_path = public, pg_temp as $$
  select t.id, t.tenant_id from application_token t
  where t.revoked_at is null and t.expiry_announced_at is null
    and t.expires_at > now() and t.expires_at < now() + interval '7 days'
    and t.expires_at - now() < (t.expires_at - coalesce(t.rotated_at, t.created_at)) / 4
  order by row_number() over (partition by t.tenant_id order by t.expires_at), t.expires_at
  limit max_rows $$;
revoke all on function expiring_application_tokens(int) from public;
grant execute on function expiring_application_tokens(int) to :system_role;
