import { Migration } from '@mikro-orm/migrations';
import { privileged } from './fences.ts';

/** How an e-mail that an identity provider verified finds its person. */
export class IdentifiedPeople extends Migration {
  override up(): void {
    this.addSql(`
      create function auth_people(emails text[], tenant_slug text default null)
        returns table (known_by text, user_id uuid, email text, tenant_id uuid, role text)
        language sql stable security definer set search_path = public, pg_temp as $$
          select e.known_by, u.id, u.email, m.tenant_id, m.role
          from unnest(emails) as e (known_by)
          join user_alias a on a.email = lower(e.known_by)
          join user_account u on u.id = a.user_id
          left join lateral (
            select t.id as tenant_id, (array_agg(x.role order by role_rank(x.role) desc))[1] as role
            from membership x join tenant t on t.id = x.tenant_id
            where x.user_id = u.id and (tenant_slug is null or t.slug = tenant_slug)
            group by t.id order by min(x.created_at), t.id limit 1) m on true $$;
      ${privileged('auth_people(text[], text)')}`);
  }
}
