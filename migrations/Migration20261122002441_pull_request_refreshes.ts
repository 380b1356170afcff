import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem } from './fences.ts';

/** When pull requests were last read from their host, and what is known of them beside what the host lists. */
export class PullRequestRefreshes extends Migration {
  override up(): void {
    this.addSql(`
      create table pull_request_refresh (
        tenant_id uuid not null,
        project_id uuid not null,
        attempted_at timestamptz(3),
        refreshed_at timestamptz(3),
        all_open_at timestamptz(3),
        read_until timestamptz(3),
        etag text,
        hook_at timestamptz(3),
        next_refresh_at timestamptz(3) not null default now(),
        details_due_at timestamptz(3),
        failures int not null default 0,
        error text,
        primary key (tenant_id, project_id),
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade);
      ${fenceTenant('pull_request_refresh')}
      ${fenceProject('pull_request_refresh')}
      ${openToSystem('pull_request_refresh', ['select'])}
      alter table pull_request
        add column compared_base text,
        add column compared_head text,
        add column files jsonb,
        add column packages text[],
        add column commits_ahead int,
        add column commits_behind int,
        add column details_error text,
        add column reviews_read_at timestamptz(3)`);
  }
}
