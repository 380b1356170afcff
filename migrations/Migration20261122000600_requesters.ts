import { Migration } from '@mikro-orm/migrations';
import { privileged } from './fences.ts';

/** Who set a run in motion, and which projects they reached by it, is known whoever looks. */
export class Requesters extends Migration {
  override up(): void {
    // An application token with projects does not see tokens, its own included.
    this.addSql(`
      create function people_of_token(token uuid) returns text[]
        language sql stable security definer set search_path = public, pg_temp as $$
          select people_ids from application_token where id = token and tenant_id = current_tenant() $$;
      ${privileged('people_of_token(uuid)')}`);
    this.addSql(`
      alter table flow_schedule add column limited_to uuid[];
      update flow_schedule s set limited_to = t.project_ids,
        people_ids = array(select distinct unnest(s.people_ids || t.people_ids))
      from application_token t where t.tenant_id = s.tenant_id and s.created_by = 'app:' || t.name
        and t.project_ids is not null`);
  }
}
