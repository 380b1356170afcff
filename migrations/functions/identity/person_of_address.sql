create or replace function person_of_address(address text, new_id uuid) returns table (user_id uuid, is_new boolean)
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  loop
    return query select a.user_id, false from user_alias a where a.email = lower(address);
    if found then return; end if;
    begin
      insert into user_account (id, email) values (new_id, lower(address));
      return query select new_id, true;
      return;
    exception when unique_violation then
      -- Somebody else made the person, or the alias, at this moment: the next look finds it.
      null;
    end;
  end loop;
end $$;
revoke all on function person_of_address(text, uuid) from public;
grant execute on function person_of_address(text, uuid) to :app_role;
