import { Migration } from '@mikro-orm/migrations';

/** A deployment may be the result of a rollback; releases are read by name. */
export class Rollbacks extends Migration {
  override up(): void {
    this.addSql(`
      alter table release_deployment add column rollback jsonb;
      create index release_deployment_of_release on release_deployment (tenant_id, project_id, domain, release_name, environment_id, deployed_at desc, id desc);
      create index release_deployment_success on release_deployment (tenant_id, environment_id, domain, deployed_at desc, id desc) where status = 'Success'`);
  }
}
