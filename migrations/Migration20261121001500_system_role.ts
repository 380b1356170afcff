import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, createRole, SYSTEM_ROLE } from './fences.ts';

/** What the role was called in databases that were migrated before. */
const OLD_ROLE = `${APP_ROLE}_lanes`;

/**
 * Moves the rights of the role of deliveries and sweeps to its new name. The old role stays: other databases of the
 * cluster may use it, and here processes of the version before do until they are replaced; it has the new one's rights.
 */
export class SystemRole extends Migration {
  override up(): void {
    this.addSql(createRole(SYSTEM_ROLE));
    this.addSql(`
      do $$
      declare
        old_role oid := (select oid from pg_roles where rolname = '${OLD_ROLE}');
        found record;
      begin
        if not exists (
          select from pg_shdepend where refclassid = 'pg_authid'::regclass and refobjid = old_role
            and dbid = (select oid from pg_database where datname = current_database())
        ) then
          return;
        end if;
        for found in select polname, polrelid::regclass as relation from pg_policy where old_role = any (polroles) loop
          execute format('alter policy %I on %s to ${SYSTEM_ROLE}', found.polname, found.relation);
          if found.polname = 'lanes' then
            execute format('alter policy lanes on %s rename to system', found.relation);
          end if;
        end loop;
        for found in select format('%s on %s', a.privilege_type, c.oid::regclass) as privilege
          from pg_class c, aclexplode(c.relacl) a where a.grantee = old_role
          union all select format('%s (%I) on %s', a.privilege_type, t.attname, t.attrelid::regclass)
          from pg_attribute t, aclexplode(t.attacl) a where a.grantee = old_role
          union all select format('%s on function %s', a.privilege_type, p.oid::regprocedure)
          from pg_proc p, aclexplode(p.proacl) a where a.grantee = old_role
        loop
          execute format('grant %s to ${SYSTEM_ROLE}', found.privilege);
        end loop;
        drop owned by ${OLD_ROLE};
        grant usage on schema public to ${OLD_ROLE};
        grant ${SYSTEM_ROLE} to ${OLD_ROLE} with inherit true;
      end $$`);
  }
}
