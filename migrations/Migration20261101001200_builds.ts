import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, PROJECT_KEY } from './fences.ts';

const BUILD_STATUS = `
  create table build_status (
    commit_sha text not null,
    branch text,
    commit_message text,
    commit_author text,
    commit_date timestamptz(3) not null,
    ci_info jsonb,
    workflow_status jsonb not null default '{}',
    state text not null default 'pending' check (state in ('pending', 'running', 'succeeded', 'failed', 'cancelled')),
    first_seen_at timestamptz(3) not null default now(),
    last_updated_at timestamptz(3) not null default now(),
    tenant_id uuid not null,
    project_id uuid not null,
    primary key (tenant_id, project_id, commit_sha),
    ${PROJECT_KEY});
  create index build_status_newest on build_status (tenant_id, project_id, commit_date desc, commit_sha);
  ${fenceTenant('build_status')}
  ${fenceProject('build_status')}`;

const HOOK_SECRET = `
  create table hook_secret (
    secret text not null,
    created_by text not null,
    created_at timestamptz(3) not null default now(),
    tenant_id uuid not null,
    project_id uuid not null,
    previous_secret text,
    previous_until timestamptz(3),
    primary key (tenant_id, project_id),
    ${PROJECT_KEY});
  ${fenceTenant('hook_secret')}
  ${fenceProject('hook_secret')}`;

const HOOK_DELIVERY = `
  create table hook_delivery (
    delivery_id text not null,
    body_digest text not null,
    received_at timestamptz(3) not null default now(),
    tenant_id uuid not null,
    project_id uuid not null,
    primary key (tenant_id, project_id, delivery_id),
    unique (tenant_id, project_id, body_digest),
    ${PROJECT_KEY});
  create index hook_delivery_age on hook_delivery (received_at);
  ${fenceTenant('hook_delivery')}
  ${fenceProject('hook_delivery')}`;

const BUILD_PREVIEW = `
  create table build_preview (
    preview_key text not null,
    branch text not null,
    commit_sha text not null,
    base_sha text,
    forced_domains jsonb not null default '[]',
    forced_packages jsonb not null default '[]',
    generation int not null default 1,
    status text not null default 'pending' check (status in ('pending', 'available', 'error')),
    impacted_domains jsonb not null default '[]',
    message text,
    requested_at timestamptz not null default now(),
    computed_at timestamptz(3),
    tenant_id uuid not null,
    project_id uuid not null,
    primary key (tenant_id, project_id, preview_key),
    ${PROJECT_KEY});
  create index build_preview_pending on build_preview (requested_at) where status = 'pending';
  create index build_preview_age on build_preview (requested_at);
  ${fenceTenant('build_preview')}
  ${fenceProject('build_preview')}
  ${openToSystem('build_preview', ['select'])}`;

/** What hosts of git tell of pushes and builds, and what a build of a commit would concern. */
export class Builds extends Migration {
  override up(): void {
    for (const sql of [BUILD_STATUS, HOOK_SECRET, HOOK_DELIVERY, BUILD_PREVIEW]) this.addSql(sql);
  }
}
