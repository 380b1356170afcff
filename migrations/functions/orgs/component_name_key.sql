create or replace function component_name_key(name text) returns text language sql immutable strict parallel safe as $$
  select lower((case when strpos(name, '%') = 0 then name else decoded_component_name(name) end) collate pg_c_utf8) $$;
