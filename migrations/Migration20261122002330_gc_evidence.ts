import { Migration } from '@mikro-orm/migrations';

/** Evidence belongs to the org that gave it, and ends when a component comes back. */
export class GcEvidence extends Migration {
  override up(): void {
    this.addSql(`
      alter table gc_presence add column org_username text;
      update gc_presence p set org_username = lower(e.org_username) from environment e
        where e.tenant_id = p.tenant_id and e.id = p.environment_id;
      delete from gc_presence where org_username is null;
      alter table gc_presence alter column org_username set not null`);
    this.addSql(`
      alter table gc_entry add column evidence_since timestamptz(3);
      update gc_entry set evidence_since = coalesce(detected_at, created_at);
      alter table gc_entry alter column evidence_since set not null`);
  }
}
