import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, SYSTEM_ROLE } from './fences.ts';

/** Branches that are analysed each night, and the runs that analyse commits. */
export class AnalysisSchedules extends Migration {
  override up(): void {
    this.addSql(`
      create table code_analysis_schedule (
        tenant_id uuid not null,
        project_id uuid not null,
        branch text collate "C" not null,
        last_night date,
        created_at timestamptz(3) not null default now(),
        primary key (tenant_id, project_id, branch),
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade);
      create index on code_analysis_schedule (last_night);
      ${fenceTenant('code_analysis_schedule')}
      ${fenceProject('code_analysis_schedule')}
      ${openToSystem('code_analysis_schedule', ['select'])}
      create index flow_run_analyses on flow_run
        (tenant_id, project_id, (payload ->> 'branch'), (payload ->> 'commitId'), created_at desc) where task_type = 'analyze';
      create index flow_run_open_analyses on flow_run (created_at)
        where task_type = 'analyze' and is_scheduled and ended_at is null;
      grant select (is_scheduled) on flow_run to ${SYSTEM_ROLE}`);
  }
}
