create or replace function keep_account_address() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    delete from user_alias where email = old.email and user_id = old.id;
  end if;
  insert into user_alias (email, user_id, provider) values (new.email, new.id, 'account');
  return null;
end $$;
revoke all on function keep_account_address() from public;

create or replace trigger address_kept after insert or update of email on user_account
  for each row execute function keep_account_address();
