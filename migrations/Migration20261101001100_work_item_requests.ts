import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, PROJECT_KEY, SYSTEM_ROLE, TENANT_OWNED } from './fences.ts';

/** Pages and counts are read from an index alone: each has what the others filter by, and what the fence asks for. */
const WORK_ITEM_REQUEST = `
  create table work_item_request (${TENANT_OWNED},
    project_id uuid not null,
    platform text collate "C" not null check (platform in ('tracker-a', 'host-a', 'host-b')),
    work_item_key text collate "C",
    work_item_url text,
    title text,
    task_type text collate "C",
    release_candidate text collate "C",
    repository_identifier text collate "C" not null,
    created_by text collate "C" not null,
    status text collate "C" not null
      check (status in ('creating', 'open', 'in_progress', 'completed', 'closed', 'failed')),
    execution_id text collate "C",
    started_at timestamptz(3),
    completed_at timestamptz(3),
    message text,
    error text,
    result jsonb,
    history jsonb not null default '[]',
    is_item_closed boolean not null default false,
    item_state_at timestamptz(3),
    report jsonb,
    report_revision int not null default 0,
    report_written_revision int not null default 0,
    report_changed_at timestamptz(3),
    report_error text,
    comment_id text,
    close_due_at timestamptz(3),
    ${PROJECT_KEY}) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
  create index work_item_request_newest on work_item_request (tenant_id, created_at desc, id desc)
    include (project_id, status, platform, task_type);
  create index work_item_request_by_project on work_item_request (tenant_id, project_id, created_at desc, id desc)
    include (status, platform, task_type, created_by);
  create index work_item_request_by_status on work_item_request (tenant_id, status, created_at desc, id desc)
    include (project_id, platform, task_type);
  create index work_item_request_by_type on work_item_request (tenant_id, task_type, created_at desc, id desc)
    include (project_id, status, platform);
  create index work_item_request_by_platform on work_item_request (tenant_id, platform, created_at desc, id desc)
    include (project_id, status, task_type);
  create index work_item_request_by_creator on work_item_request (tenant_id, created_by, created_at desc, id desc)
    include (project_id, status, platform, task_type, repository_identifier);
  create index work_item_request_by_candidate on work_item_request
    (tenant_id, release_candidate, created_at desc, id desc) include (project_id, status, platform, task_type)
    where release_candidate is not null;
  create index work_item_request_of_item on work_item_request
    (tenant_id, project_id, platform, work_item_key, created_at desc, id desc);
  create index work_item_request_creating on work_item_request (created_at) where status = 'creating';
  create index work_item_request_unreported on work_item_request (report_changed_at)
    where report_written_revision < report_revision;
  create index work_item_request_closing on work_item_request (close_due_at) where close_due_at is not null;
  create index work_item_request_by_repository on work_item_request
    (tenant_id, repository_identifier, created_at desc, id desc)
    include (project_id, status, platform, task_type, created_by);
  ${fenceTenant('work_item_request')}
  ${fenceProject('work_item_request')}
  create policy system on work_item_request to ${SYSTEM_ROLE} using (true) with check (true);
  grant select (id, tenant_id, created_at, status, repository_identifier, report_revision, report_written_revision,
    report_changed_at, close_due_at) on work_item_request to ${SYSTEM_ROLE};`;

const WORK_ITEM_REQUEST_COUNT = `
  create table work_item_request_count (
    tenant_id uuid not null,
    project_id uuid not null,
    kind text collate "C" not null check (kind in ('creator', 'month')),
    value text collate "C" not null,
    status text collate "C" not null,
    requests bigint not null,
    primary key (tenant_id, kind, value, status, project_id),
    ${PROJECT_KEY}) with (fillfactor = 70);
  ${fenceTenant('work_item_request_count', ['select'])}
  ${fenceProject('work_item_request_count')}`;

const WORK_ITEM_REQUEST_TALLY = `
  create table work_item_request_tally (
    tenant_id uuid not null,
    project_id uuid not null,
    repository_identifier text collate "C" not null,
    platform text collate "C" not null,
    status text collate "C" not null,
    task_type text collate "C" not null,
    requests bigint not null,
    primary key (tenant_id, project_id, repository_identifier, platform, status, task_type),
    ${PROJECT_KEY}) with (fillfactor = 70);
  ${fenceTenant('work_item_request_tally', ['select'])}
  ${fenceProject('work_item_request_tally')}`;

/** Executions find their requests by a key: behind a fence, an index of arrays is not used. */
const WORK_ITEM_REQUEST_EXECUTION = `
  create table work_item_request_execution (
    tenant_id uuid not null,
    project_id uuid not null,
    execution_id text collate "C" not null,
    request_id uuid not null,
    primary key (tenant_id, project_id, execution_id, request_id),
    ${PROJECT_KEY});
  ${fenceTenant('work_item_request_execution', ['select', 'insert'])}
  ${fenceProject('work_item_request_execution')}`;

/** What people ask for on behalf of work items, its counts, and what carried it out. */
export class WorkItemRequests extends Migration {
  override up(): void {
    for (const sql of [
      WORK_ITEM_REQUEST,
      WORK_ITEM_REQUEST_COUNT,
      WORK_ITEM_REQUEST_TALLY,
      WORK_ITEM_REQUEST_EXECUTION,
    ])
      this.addSql(sql);
  }
}
