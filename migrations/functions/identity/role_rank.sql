create or replace function role_rank(role text) returns int language sql immutable parallel safe
  return case role when 'owner' then 3 when 'application' then 2 else 1 end;
