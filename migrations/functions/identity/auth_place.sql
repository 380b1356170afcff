create or replace function auth_place(person uuid, address text, wanted text)
  returns table (tenant_id uuid, role text, invitation_id uuid, tenants text[], invited_to text[])
  language sql stable set search_path = public, pg_temp as $$
  with member as materialized (
    select t.id, t.slug, j.accepted_at, j.chosen_at, (select m.role from membership m where m.tenant_id = t.id
      and m.user_id = person order by role_rank(m.role) desc limit 1) as role
    from tenant_user j join tenant t on t.id = j.tenant_id
    where j.user_id = person and exists (
      select from membership m where m.tenant_id = j.tenant_id and m.user_id = person)),
  invited as materialized (
    select v.id as invitation_id, t.id, t.slug, (select m.role from invited_membership m where m.tenant_id = t.id
      and m.user_id = v.id order by role_rank(m.role) desc limit 1) as role
    from invited_user v join tenant t on t.id = v.tenant_id
    where v.email = any (array(
      select lower(address) union select a.email from user_alias a where a.user_id = person))),
  chosen as (
    select id, role from member where wanted is null or slug = wanted
    order by chosen_at desc nulls last, accepted_at, id limit 1),
  opened as (
    select id, role, invitation_id from invited
    where slug = wanted or (wanted is null and person is null and (select count(*) from invited) = 1)
    order by invitation_id limit 1),
  place as (
    select id, role, null::uuid as invitation_id from chosen
    union all select id, role, invitation_id from opened where not exists (select from chosen))
  select p.id, p.role, p.invitation_id, array(select slug from member order by slug),
    array(select distinct slug from invited order by slug)
  from (select) one left join place p on true $$;
revoke all on function auth_place(uuid, text, text) from public;
