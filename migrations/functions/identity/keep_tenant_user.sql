-- Changes of teams leave the row, and with it the date, alone.
create or replace function keep_tenant_user() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into tenant_user (tenant_id, user_id) values (new.tenant_id, new.user_id) on conflict do nothing;
  return null;
end $$;
revoke all on function keep_tenant_user() from public;

create or replace trigger tenant_user_kept after insert on membership
  for each row execute function keep_tenant_user();
