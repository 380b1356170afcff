import { Migration } from '@mikro-orm/migrations';
import { privileged, SYSTEM_ROLE } from './fences.ts';

/** Ids of workflows name the tenant by its slug, also where no tenant is set. */
export class TenantSlug extends Migration {
  override up(): void {
    this.addSql(`
      create function tenant_slug(tenant uuid) returns text
        language sql stable parallel safe security definer set search_path = public, pg_temp as $$
          select slug from tenant t where t.id = tenant $$;
      ${privileged('tenant_slug(uuid)')}
      grant execute on function tenant_slug(uuid) to ${SYSTEM_ROLE};
      create function refuse_new_slug() returns trigger language plpgsql as $$
        begin raise exception 'the slug of a tenant never changes: ids of workflows contain it'; end $$;
      create trigger slug_is_fixed before update of slug on tenant
        for each row when (old.slug <> new.slug) execute function refuse_new_slug();`);
  }
}
