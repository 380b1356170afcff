-- An application token with projects does not see tokens, its own included.
create or replace function people_of_token(token uuid) returns text[]
  language sql stable security definer set search_path = public, pg_temp as $$
  select people_ids from application_token where id = token and tenant_id = current_tenant() $$;
revoke all on function people_of_token(uuid) from public;
grant execute on function people_of_token(uuid) to :app_role;
