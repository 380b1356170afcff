import { Migration } from '@mikro-orm/migrations';

/** Pages of lists are found in an index alone: what is passed over before a page deep in a list is not read of the table. */
export class GcEntriesByIndex extends Migration {
  override up(): void {
    this.addSql(`
      alter table gc_entry drop constraint gc_entry_tenant_id_project_id_branch_package_name_component_key,
        add unique (tenant_id, project_id, branch, package_name, component_type, full_name) include (id);
      drop index gc_entry_by_status;
      create index gc_entry_by_status on gc_entry
        (tenant_id, project_id, status, branch, package_name, component_type, full_name) include (id)`);
  }
}
