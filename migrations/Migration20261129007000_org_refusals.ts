import { Migration } from '@mikro-orm/migrations';

const REFUSALS = `
  alter table crm_org add column refused_at timestamptz(3);
  update crm_org set refused_at = coalesce(health_checked_at, updated_at) where health_status = 'auth_failed';`;

/** Since when orgs refuse their credential. */
export class OrgRefusals extends Migration {
  override up(): void {
    this.addSql(REFUSALS);
  }
}
