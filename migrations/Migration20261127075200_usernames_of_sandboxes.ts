import { Migration } from '@mikro-orm/migrations';

/** Environments name the orgs of registered sandboxes by their usernames. */
export class UsernamesOfSandboxes extends Migration {
  override up(): void {
    this.addSql(`
      update environment e set org_username = o.username, updated_at = now()
      from crm_org o
      where o.tenant_id = e.tenant_id and lower(o.sandbox_name) = lower(e.org_username)
        and not exists (select from crm_org other where other.tenant_id = e.tenant_id and other.id <> o.id
          and lower(e.org_username) in (lower(other.username), lower(other.sandbox_name)))`);
  }
}
