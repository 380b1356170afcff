import { Migration } from '@mikro-orm/migrations';
import { SYSTEM_ROLE } from './fences.ts';

/** Schedules that start no runs for a while, and lists of candidates over all projects and of runs by their release. */
export class ListsOverProjects extends Migration {
  override up(): void {
    this.addSql(`
      alter table flow_schedule add column is_paused boolean not null default false;
      grant select (is_paused) on flow_schedule to ${SYSTEM_ROLE};
      create index flow_run_of_domain on flow_run (tenant_id, domain, created_at desc, id desc) where domain is not null;
      create index release_candidate_of_tenant on release_candidate (tenant_id, created_at desc, id desc);
      create index flow_run_of_release_name on flow_run (tenant_id, release_name, created_at desc, id desc)
        where release_name is not null;`);
  }
}
