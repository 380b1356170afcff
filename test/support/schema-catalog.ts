import type pg from 'pg';

/** Each answers lines; what they name is compared by them, so that lines hold no ids of the catalog. */
const PARTS = [
  `select format('table %s: %s, options %s, row-level security %s%s, owner %s', relname, relpersistence, reloptions,
     relrowsecurity, relforcerowsecurity, relowner::regrole)
   from pg_class where relnamespace = $1::regnamespace and relkind in ('r', 'p')`,
  `select format('column %s.%s %s: %s collate %s, not null %s, default %s, identity %s, generated %s', c.relname,
     row_number() over (partition by c.oid order by attnum), attname, format_type(atttypid, atttypmod),
     attcollation::regcollation, attnotnull, pg_get_expr(adbin, adrelid), attidentity, attgenerated)
   from pg_class c join pg_attribute a on attrelid = c.oid left join pg_attrdef on adrelid = c.oid and adnum = attnum
   where relnamespace = $1::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped`,
  `select format('constraint %s on %s: %s', conname, conrelid::regclass, pg_get_constraintdef(oid))
   from pg_constraint where connamespace = $1::regnamespace and contype <> 'n'`,
  `select format('index: %s', pg_get_indexdef(indexrelid)) from pg_index join pg_class on pg_class.oid = indexrelid
   where relnamespace = $1::regnamespace`,
  `select format('policy %s on %s: %s, for %s, to %s, using %s, with check %s', polname, polrelid::regclass, polpermissive,
     polcmd, polroles::regrole[], pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) from pg_policy`,
  `select format('trigger on %s: %s', tgrelid::regclass, pg_get_triggerdef(oid)) from pg_trigger where not tgisinternal`,
  `select format('routine %s: %s, owner %s, settings %s', p.oid::regprocedure,
     case prokind when 'a' then row(a.aggtransfn, a.aggtranstype::regtype, a.agginitval, proparallel)::text
       else pg_get_functiondef(p.oid) end, proowner::regrole, proconfig)
   from pg_proc p left join pg_aggregate a on a.aggfnoid = p.oid where pronamespace = $1::regnamespace`,
  `select format('sequence %s: %s', seqrelid::regclass, row(s.*)::text)
   from pg_sequence, lateral (select seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle) s`,
  `select format('right of %s to %s: %s', a.grantee::regrole, c.oid::regclass, privilege_type)
   from pg_class c, aclexplode(coalesce(relacl, acldefault('r', relowner))) a where relnamespace = $1::regnamespace`,
  `select format('right of %s to %s.%s: %s', a.grantee::regrole, attrelid::regclass, attname, privilege_type)
   from pg_attribute, aclexplode(attacl) a`,
  `select format('right of %s to %s: %s', a.grantee::regrole, p.oid::regprocedure, privilege_type)
   from pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) a where pronamespace = $1::regnamespace`,
  `select format('right of %s to schema %s: %s', a.grantee::regrole, nspname, privilege_type)
   from pg_namespace, aclexplode(nspacl) a where oid = $1::regnamespace`,
  `select format('default right of %s to %s: %s', a.grantee::regrole, defaclobjtype, privilege_type)
   from pg_default_acl, aclexplode(defaclacl) a`,
  `select format('comment on %s: %s', pg_describe_object(classoid, objoid, objsubid), description) from pg_description
   where pg_describe_object(classoid, objoid, objsubid) not like '%pg_%' and objoid >= 16384`,
];

/** What a schema consists of, and who may do what with it: a line each, in order. */
export async function schemaCatalog(client: pg.Client): Promise<string[]> {
  const lines: string[] = [];
  for (const part of PARTS) {
    const values = part.includes('$1') ? ['public'] : [];
    const { rows } = await client.query<{ format: string }>(part, values);
    lines.push(...rows.map(({ format }) => format));
  }
  return lines.toSorted();
}
