import { Migration } from '@mikro-orm/migrations';
import { SYSTEM_ROLE } from './fences.ts';

/** Ids of the workflows of runs name release and environment; those of runs that are there stay as they are. */
export class RunWorkflowPaths extends Migration {
  override up(): void {
    this.addSql(`
      alter table flow_run add column workflow_path text;
      grant select (workflow_path) on flow_run to ${SYSTEM_ROLE}`);
  }
}
