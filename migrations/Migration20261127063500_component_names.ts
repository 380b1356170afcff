import { Migration } from '@mikro-orm/migrations';

/** What a component is known by within its type, as `componentNameKey` has it: decoded, and without case. */
export class ComponentNames extends Migration {
  override up(): void {
    this.addSql(`
      create function decoded_component_name(name text) returns text
        language plpgsql immutable strict parallel safe as $$
        declare parts text[];
        begin
          parts := array(select m[1] from regexp_matches(name, '(%[0-9A-Fa-f]{2}|[^%]+|%)', 'g') m);
          if '%' = any (parts) then return name; end if;
          return convert_from(decode((
            select string_agg(case when part like '\\%%' then substr(part, 2) else encode(convert_to(part, 'UTF8'), 'hex') end,
              '' order by place)
            from unnest(parts) with ordinality p (part, place)), 'hex'), 'UTF8');
        exception when character_not_in_repertoire or untranslatable_character then return name;
        end $$;
      create function component_name_key(name text) returns text language sql immutable strict parallel safe as $$
        select lower((case when strpos(name, '%') = 0 then name else decoded_component_name(name) end) collate pg_c_utf8) $$`);
  }
}
