import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, TENANT_OWNED } from './fences.ts';

/** Checks of the orgs of a branch that the service makes itself. */
export class GcChecks extends Migration {
  override up(): void {
    this.addSql(`
      create table gc_check (${TENANT_OWNED},
        project_id uuid not null,
        branch text collate "C" not null,
        status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed')),
        requested_by text not null,
        environments jsonb not null default '[]',
        error text,
        ended_at timestamptz(3),
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade);
      create unique index gc_check_under_way on gc_check (tenant_id, project_id, branch) where status in ('queued', 'running');
      ${fenceTenant('gc_check')}
      ${fenceProject('gc_check')}
      ${openToSystem('gc_check', ['select'])}`);
  }
}
