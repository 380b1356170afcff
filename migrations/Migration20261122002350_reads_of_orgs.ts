import { Migration } from '@mikro-orm/migrations';

/** When the service listed the components of a type, and indexes for the sync that ended last and for its changes. */
export class ReadsOfOrgs extends Migration {
  override up(): void {
    this.addSql(`alter table org_component_type add column listed_at timestamptz(3)`);
    this.addSql(`
      drop index org_sync_tenant_id_org_id_created_at_id_idx;
      create index on org_sync (tenant_id, org_id, updated_at desc, id desc) where status in ('succeeded', 'failed')`);
    this.addSql(`create index on org_component_change (tenant_id, org_id, sync_id) where sync_id is not null`);
  }
}
