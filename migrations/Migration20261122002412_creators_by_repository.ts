import { Migration } from '@mikro-orm/migrations';

/** Requests of a repository are counted by who made them from the index alone. */
export class CreatorsByRepository extends Migration {
  override up(): void {
    this.addSql(`
      drop index work_item_request_by_repository;
      create index work_item_request_by_repository on work_item_request
        (tenant_id, repository_identifier, created_at desc, id desc)
        include (project_id, status, platform, task_type, created_by)`);
  }
}
