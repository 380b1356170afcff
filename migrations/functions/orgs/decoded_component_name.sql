create or replace function decoded_component_name(name text) returns text
  language plpgsql immutable strict parallel safe as $$
declare parts text[];
begin
  parts := array(select m[1] from regexp_matches(name, '(%[0-9A-Fa-f]{2}|[^%]+|%)', 'g') m);
  if '%' = any (parts) then return name; end if;
  return convert_from(decode((
    select string_agg(case when part like '\%%' then substr(part, 2) else encode(convert_to(part, 'UTF8'), 'hex') end,
      '' order by place)
    from unnest(parts) with ordinality p (part, place)), 'hex'), 'UTF8');
exception when character_not_in_repertoire or untranslatable_character then return name;
end $$;
