create or replace function possible_approvers(approvers text[])
  returns table (id text, email text, is_owner boolean, is_sole_owner boolean, teams text[])
  language sql stable security definer set search_path = public, pg_temp as $$
  select u.id::text, u.email, bool_or(m.role = 'owner'),
    bool_or(m.role = 'owner') and not exists (
      select from membership o where o.tenant_id = current_tenant() and o.role = 'owner' and o.user_id <> u.id),
    coalesce(array_agg(t.slug) filter (where t.slug is not null), '{}')
  from membership m
  join user_account u on u.id = m.user_id
  left join team t on t.tenant_id = m.tenant_id and t.id = m.team_id
  where m.tenant_id = current_tenant() and m.role <> 'application'
  group by u.id
  having case when cardinality(approvers) = 0 then bool_or(m.role = 'owner')
    else exists (select from unnest(approvers) a where lower(a) = lower(u.email))
      or array_agg(t.slug) && approvers end $$;
revoke all on function possible_approvers(text[]) from public;
grant execute on function possible_approvers(text[]) to :app_role;
