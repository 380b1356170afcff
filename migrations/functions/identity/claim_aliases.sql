-- Answers whose each address is afterwards: one that belongs to somebody else stays theirs.
create or replace function claim_aliases(for_user uuid, from_provider text, addresses text[])
  returns table (email text, user_id uuid)
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into user_alias (email, user_id, provider)
  select distinct lower(a), for_user, from_provider from unnest(addresses) a order by 1
  on conflict do nothing;
  return query select x.email, x.user_id from user_alias x
    where x.email = any (select lower(a) from unnest(addresses) a) order by 1;
end $$;
revoke all on function claim_aliases(uuid, text, text[]) from public;
grant execute on function claim_aliases(uuid, text, text[]) to :app_role;
