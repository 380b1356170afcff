import { Migration } from '@mikro-orm/migrations';
import { RESTART_WORKFLOWS } from './restart-workflows.ts';

/** Workflows bear ids that name the tenant by its slug: what is under way is started again under them. */
export class IdsOfWorkflows extends Migration {
  override up(): void {
    this.addSql(`alter table approval rename column told_at to run_notified_at;`);
    this.addSql(RESTART_WORKFLOWS);
  }
}
