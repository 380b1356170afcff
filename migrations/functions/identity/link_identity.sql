-- The provider has proved both: a name that it gave to another account, or an account that was renamed, moves.
create or replace function link_identity(for_user uuid, at_provider text, its_id text,
  its_username text) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  holder uuid;
begin
  perform pg_advisory_xact_lock(hashtextextended('identity:' || at_provider, 0));
  select user_id into holder from user_identity where provider = at_provider and external_id = its_id;
  if holder is distinct from for_user and holder is not null then
    return false;
  end if;
  delete from user_identity where provider = at_provider and username = lower(its_username) and external_id <> its_id;
  insert into user_identity (provider, username, external_id, user_id)
  values (at_provider, lower(its_username), its_id, for_user)
  on conflict (provider, external_id) do update set username = excluded.username, updated_at = now();
  return true;
end $$;
revoke all on function link_identity(uuid, text, text, text) from public;
grant execute on function link_identity(uuid, text, text, text) to :app_role;
