import { Migration } from '@mikro-orm/migrations';

/** Measures and the places of work items are kept in memory, and read anew where something has changed. */
export class DeploymentLog extends Migration {
  override up(): void {
    this.addSql(`
      create index release_deployment_log on release_deployment (tenant_id, project_id, environment_id, domain)
        include (id, deployed_at, status, rolled_back_at)`);
    // How often a version was taken along to another commit.
    this.addSql(`
      alter table package_version add column moves int not null default 0;
      create index package_version_moved on package_version (tenant_id, project_id) include (moves) where moves > 0;
      create function count_package_version_moves() returns trigger language plpgsql as $$
      begin
        new.moves := old.moves + 1;
        return new;
      end $$;
      create trigger moved before update on package_version
        for each row when (old.commit_sha is distinct from new.commit_sha) execute function count_package_version_moves()`);
  }
}
