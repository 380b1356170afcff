create or replace function gc_components(package jsonb) returns table (component_type text, full_name text)
  language sql immutable parallel safe rows 500 as $$
  select jsonb_path_query_first(t, 'lax $.name[*]') #>> '{}', m #>> '{}'
  from jsonb_path_query(package, 'lax $.types[*] ? (@.type() == "object")') t,
    jsonb_path_query(t, 'lax $.members[*] ? (@.type() == "string" && @ != "" || @.type() == "number")') m $$;
revoke all on function gc_components(jsonb) from public;
grant execute on function gc_components(jsonb) to :app_role;
