-- Converters from XML write a lone element without its array, and an empty one as an empty text: lax paths take both.
create or replace function gc_is_package(package jsonb) returns boolean
  language sql immutable parallel safe
  return jsonb_typeof(package) = 'object'
    and not jsonb_path_exists(package,
      'lax $.types[*] ? (!(@.type() == "object" || @.type() == "null" || (@.type() == "string" && @ == "")))')
    and not jsonb_path_exists(package, 'lax $.types[*] ? (@.type() == "object"
      && (!exists (@.name ? (@.type() == "string" && @ != ""))
        || exists (@.members[*] ? (@.type() != "string" && @.type() != "number" && @.type() != "null"))))');
revoke all on function gc_is_package(jsonb) from public;
grant execute on function gc_is_package(jsonb) to :app_role;
