import { Migration } from '@mikro-orm/migrations';

/** Indexes for what timelines of environments read beside deployments and runs that ended: rollbacks, overrides and locks. */
export class TimelinesOfEnvironments extends Migration {
  override up(): void {
    this.addSql(`
      create index release_deployment_rolled_back on release_deployment (tenant_id, environment_id, rolled_back_at desc)
        where rolled_back_at is not null;
      create index flow_run_overridden_in_environment on flow_run (tenant_id, environment_id) where override is not null;
      create index environment_lock_ticket_held on environment_lock_ticket (tenant_id, environment_id, held_at desc)
        where held_at is not null;`);
  }
}
