import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, TENANT_OWNED } from './fences.ts';

/** Reports on a repository, a domain or a package: published by others, or generated here. */
export class AiReports extends Migration {
  override up(): void {
    this.addSql(`
      create table ai_report (${TENANT_OWNED},
        project_id uuid not null,
        branch text collate "C" not null,
        scope text not null check (scope in ('repository', 'domain', 'package')),
        scope_name text collate "C" not null,
        status text not null check (status in ('queued', 'running', 'completed', 'failed')),
        commit_sha text,
        analyzed_at timestamptz(3) not null,
        markdown text,
        provider text,
        model text,
        execution_time_ms integer,
        task_execution_id text,
        usage jsonb,
        cost double precision,
        error text,
        requested_by text not null,
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade);
      create unique index ai_report_under_way on ai_report (tenant_id, project_id, branch, scope, scope_name)
        where status in ('queued', 'running');
      create index ai_report_by_key on ai_report (tenant_id, project_id, branch, scope, scope_name, analyzed_at, id);
      ${fenceTenant('ai_report')}
      ${fenceProject('ai_report')}`);
  }
}
