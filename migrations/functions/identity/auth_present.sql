-- Who of those that were asked for may still act in their tenant: one row for each that may, by its number from 1. Of an
-- application token that is limited to projects, it answers the repositories and collections that it reaches now.
create or replace function auth_present(asked jsonb)
  returns table (request int, role text, repositories text[], collection_names jsonb)
  language sql stable security definer set search_path = public, pg_temp as $$
  with asked_for as (
    select a.place::int as request, a.item->>'type' as type, (a.item->>'tenantId')::uuid as tenant_id,
      (a.item->>'id')::uuid as id, (a.item->>'sessionId')::uuid as session_id
    from jsonb_array_elements(asked) with ordinality as a(item, place))
  select a.request, 'application',
    case when t.project_ids is not null then array(
      select p.identifier from project p where p.tenant_id = t.tenant_id and p.id = any (t.project_ids)) end,
    case when t.project_ids is not null then collection_names(t.tenant_id, t.project_ids) end
  from asked_for a join application_token t on t.id = a.id and t.tenant_id = a.tenant_id
  where a.type = 'application' and t.revoked_at is null and t.expires_at > now()
  union all
  select a.request, m.role, null, null
  from asked_for a
  cross join lateral (select m.role from membership m where m.user_id = a.id and m.tenant_id = a.tenant_id
    order by role_rank(m.role) desc limit 1) m
  where a.type = 'user' and (a.session_id is null or exists (
    select from auth_session s where s.id = a.session_id and s.user_id = a.id and s.tenant_id = a.tenant_id
      and s.revoked_at is null and s.expires_at > now())) $$;
revoke all on function auth_present(jsonb) from public;
grant execute on function auth_present(jsonb) to :app_role;
