import { Migration } from '@mikro-orm/migrations';

/** Null for runs that were accepted before: when they moved is not known. */
const MOVES = `
  alter table flow_run add column moves jsonb;
  alter table flow_run alter column moves set default '[]';`;

const DEPLOYMENTS = `
  alter table release_deployment add column rolled_back_by text;
  create index release_deployment_installed on release_deployment
    (tenant_id, environment_id, domain, deployed_at desc, created_at desc, id desc)
    where status in ('Success', 'Partial') and rolled_back_at is null;`;

/** When runs came from state to state, who took deployments back, and what runs in an environment. */
export class RunMoves extends Migration {
  override up(): void {
    this.addSql(MOVES);
    this.addSql(DEPLOYMENTS);
  }
}
