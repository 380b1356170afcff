import { Migration } from '@mikro-orm/migrations';
import {
  APP_ROLE,
  fenceProject,
  fenceTenant,
  hideFromProjects,
  limitProjects,
  PROJECT_KEY,
  SYSTEM_ROLE,
  TENANT_OWNED,
  showToSystem,
} from './fences.ts';

const FLOW_SCHEDULE = `
  create table flow_schedule (${TENANT_OWNED},
    project_id uuid,
    name text not null,
    cron text not null,
    timezone text not null,
    payload jsonb not null,
    schedule_path text not null,
    created_by text not null,
    deleted_at timestamptz(3),
    synced_at timestamptz(3),
    people_ids text[] not null default '{}'::text[],
    limited_to uuid[],
    refused_at timestamptz(3),
    refusal text,
    unique (tenant_id, id),
    ${PROJECT_KEY});
  create unique index flow_schedule_name on flow_schedule (tenant_id, name) where deleted_at is null;
  create index flow_schedule_unsynced on flow_schedule (updated_at) where synced_at is null;
  ${fenceTenant('flow_schedule', ['select', 'insert', 'update'])}
  ${fenceProject('flow_schedule')}
  ${showToSystem('flow_schedule', 'id, tenant_id, updated_at, name, cron, timezone, deleted_at, synced_at')}
  grant update (synced_at) on flow_schedule to ${SYSTEM_ROLE};`;

/** A run without a project has a token that reaches the run alone. */
const REACHED = `(select current_projects()) is null or project_id = any ((select current_projects())::uuid[])
    or id = (select current_run())`;

const FLOW_RUN = `
  create table flow_run (${TENANT_OWNED},
    project_id uuid,
    environment_id uuid,
    parent_id uuid,
    schedule_id uuid,
    rerun_of_id uuid,
    rerun_type text,
    has_workflow boolean not null,
    task_type text not null,
    category text not null,
    flow_path text not null,
    execution_mode text not null check (execution_mode in ('flow', 'cicd')),
    is_internal boolean not null default false,
    is_scheduled boolean not null default false,
    schedule_path text,
    external_id text,
    domain text,
    release_name text,
    status text not null,
    display_status text not null,
    payload jsonb not null default '{}',
    result jsonb not null default '{}',
    error text,
    cicd_run_id text,
    cicd_run_url text,
    work_item_type text,
    work_item_key text,
    work_item jsonb,
    triggered_by text not null,
    requested_by jsonb not null,
    request_id text,
    traceparent text,
    output_tail text,
    output_object text,
    launched_at timestamptz(3),
    cancel_requested_at timestamptz(3),
    started_at timestamptz(3),
    ended_at timestamptz(3),
    dispatch_tried_at timestamptz(3),
    engine_run_id text,
    reported_end jsonb,
    program_started_at timestamptz(3),
    next_window_at timestamptz(3),
    waits_for text,
    override jsonb,
    deploys jsonb,
    workflow_path text,
    unique (tenant_id, id),
    ${PROJECT_KEY},
    foreign key (tenant_id, environment_id) references environment (tenant_id, id)
      on delete set null (environment_id),
    foreign key (tenant_id, schedule_id) references flow_schedule (tenant_id, id) on delete set null (schedule_id),
    foreign key (tenant_id, parent_id) references flow_run (tenant_id, id) on delete cascade,
    foreign key (tenant_id, rerun_of_id) references flow_run (tenant_id, id)
      on delete set null (rerun_of_id)) with (fillfactor = 70);
  create index flow_run_of_flow_path on flow_run (tenant_id, flow_path, created_at desc, id desc);
  create index flow_run_of_work_item on flow_run (tenant_id, work_item_key, created_at desc, id desc)
    where work_item_key is not null;
  create index flow_run_of_work_item_type on flow_run (tenant_id, work_item_type, created_at desc, id desc)
    where work_item_type is not null;
  create index flow_run_children on flow_run (tenant_id, parent_id, created_at) where parent_id is not null;
  create unique index flow_run_external on flow_run (tenant_id, external_id) where external_id is not null;
  create index flow_run_reruns on flow_run (tenant_id, rerun_of_id) where rerun_of_id is not null;
  create index flow_run_of_environment on flow_run (tenant_id, environment_id) where environment_id is not null;
  create index flow_run_open on flow_run (updated_at) where ended_at is null and has_workflow;
  create index flow_run_newest on flow_run (tenant_id, created_at desc, id desc)
    include (project_id, display_status, category, task_type, execution_mode, flow_path, work_item_type, is_internal,
      is_scheduled);
  create index flow_run_of_project on flow_run (tenant_id, project_id, created_at desc, id desc)
    include (display_status, category, task_type, execution_mode, flow_path, work_item_type, is_internal, is_scheduled);
  create index flow_run_of_status on flow_run (tenant_id, display_status, created_at desc, id desc)
    include (project_id, category, task_type, execution_mode, flow_path, work_item_type, is_internal, is_scheduled);
  create index flow_run_of_task_type on flow_run (tenant_id, task_type, created_at desc, id desc)
    include (project_id, display_status, category, execution_mode, flow_path, work_item_type, is_internal,
      is_scheduled);
  create index flow_run_of_category on flow_run (tenant_id, category, created_at desc, id desc)
    include (project_id, display_status, task_type, execution_mode, flow_path, work_item_type, is_internal,
      is_scheduled);
  create index flow_run_of_trigger on flow_run (tenant_id, triggered_by, created_at desc, id desc)
    include (project_id, display_status, category, task_type, execution_mode, flow_path, work_item_type, is_internal,
      is_scheduled);
  create index flow_run_builds on flow_run (tenant_id, project_id, (payload ->> 'commitId'), created_at desc)
    where task_type = 'build';
  create index flow_run_waiting_window on flow_run (tenant_id, project_id) where status = 'waiting_window';
  create index flow_run_analyses on flow_run
    (tenant_id, project_id, (payload ->> 'branch'), (payload ->> 'commitId'), created_at desc)
    where task_type = 'analyze';
  create index flow_run_open_analyses on flow_run (created_at)
    where task_type = 'analyze' and is_scheduled and ended_at is null;
  ${fenceTenant('flow_run', ['select', 'insert', 'update'])}
  ${showToSystem(
    'flow_run',
    `id, tenant_id, created_at, updated_at, project_id, has_workflow, task_type, is_scheduled, status,
      request_id, traceparent, launched_at, cancel_requested_at, ended_at, workflow_path`,
  )}
  create policy project on flow_run as restrictive to ${APP_ROLE} using (${REACHED}) with check (${REACHED});
  grant update (launched_at) on flow_run to ${SYSTEM_ROLE};`;

const FLOW_RUN_TALLY = `
  create table flow_run_tally (
    tenant_id uuid not null,
    project_id uuid,
    status text not null,
    display_status text not null,
    category text not null,
    task_type text not null,
    flow_path text not null,
    execution_mode text not null,
    work_item_type text,
    is_internal boolean not null,
    is_scheduled boolean not null,
    runs bigint not null,
    is_settled boolean not null default false);
  create unique index flow_run_tally_settled on flow_run_tally (tenant_id, project_id, status, display_status,
      category, task_type, flow_path, execution_mode, work_item_type, is_internal, is_scheduled) nulls not distinct
    where is_settled;
  create index flow_run_tally_of_tenant on flow_run_tally (tenant_id);
  create index flow_run_tally_unsettled on flow_run_tally (tenant_id) where not is_settled;
  ${fenceTenant('flow_run_tally', ['select'])}
  ${fenceProject('flow_run_tally')}`;

const FLOW_CHECK = `
  create table flow_check (
    tenant_id uuid not null,
    run_id uuid not null,
    kind text not null check (kind in ('check', 'validation', 'status', 'label')),
    wanted jsonb not null,
    revision int not null default 1,
    written_revision int not null default 0,
    error text,
    updated_at timestamptz(3) not null default now(),
    primary key (tenant_id, run_id, kind),
    foreign key (tenant_id, run_id) references flow_run (tenant_id, id) on delete cascade);
  create index flow_check_due on flow_check (updated_at) where written_revision < revision;
  ${fenceTenant('flow_check', ['select', 'insert', 'update'])}
  ${showToSystem('flow_check', 'tenant_id, run_id, kind, revision, written_revision, updated_at')}
  ${limitProjects(
    'flow_check',
    'exists (select from flow_run r where r.tenant_id = flow_check.tenant_id and r.id = flow_check.run_id)',
  )}`;

const FLOW_RUN_LOCK = `
  create table flow_run_lock (
    tenant_id uuid not null,
    execution_id uuid not null,
    lock_key text not null,
    ticket_id text,
    run_id text,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    primary key (tenant_id, execution_id, lock_key),
    foreign key (tenant_id, execution_id) references flow_run (tenant_id, id) on delete cascade);
  ${fenceTenant('flow_run_lock', ['select', 'insert', 'update'])}
  ${limitProjects(
    'flow_run_lock',
    'exists (select from flow_run r where r.tenant_id = flow_run_lock.tenant_id and r.id = flow_run_lock.execution_id)',
  )}`;

const RUN_TOKEN = `
  create table run_token (
    tenant_id uuid not null references tenant (id),
    run_id uuid not null,
    token_hash text not null unique,
    expires_at timestamptz(3) not null,
    created_at timestamptz(3) not null default now(),
    primary key (tenant_id, run_id),
    foreign key (tenant_id, run_id) references flow_run (tenant_id, id) on delete cascade);
  create index run_token_expired on run_token (expires_at);
  ${fenceTenant('run_token')}
  ${hideFromProjects('run_token')}`;

/** Runs, their schedules, checks, locks, tokens and counts. */
export class Runs extends Migration {
  override up(): void {
    for (const sql of [FLOW_SCHEDULE, FLOW_RUN, FLOW_RUN_TALLY, FLOW_CHECK, FLOW_RUN_LOCK, RUN_TOKEN]) this.addSql(sql);
  }
}
