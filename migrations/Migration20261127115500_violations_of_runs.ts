import { Migration } from '@mikro-orm/migrations';

/** Finds what the deployments of a run broke of the policies of their environments. */
export class ViolationsOfRuns extends Migration {
  override up(): void {
    this.addSql(
      `create index release_deployment_violations_of_run on release_deployment (tenant_id, execution_id) where policy_violations <> '[]'`,
    );
  }
}
