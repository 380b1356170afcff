import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, PROJECT_KEY } from './fences.ts';

/** Moments that are compared with now() are not rounded. */
const GIT_MIRROR = `
  create table git_mirror (
    requested_at timestamptz not null default now(),
    attempted_at timestamptz,
    next_fetch_at timestamptz not null default now(),
    fetched_at timestamptz(3),
    failures int not null default 0,
    error text,
    commits int not null default 0,
    revision bigint not null default 0,
    work_items_epoch int not null default 0,
    packages_from text not null default 'none' check (packages_from in ('manifest', 'setting', 'none')),
    work_item_filters jsonb not null default '[]',
    tenant_id uuid not null,
    project_id uuid not null,
    completed_at timestamptz(6),
    attributed_branch text,
    message_rules int not null default 0,
    primary key (tenant_id, project_id),
    ${PROJECT_KEY});
  create index git_mirror_due on git_mirror (next_fetch_at);
  ${fenceTenant('git_mirror')}
  ${fenceProject('git_mirror')}
  ${openToSystem('git_mirror', ['select'])}`;

/** Numbered by import, parents before children; a number never changes its meaning. */
const GIT_COMMIT = `
  create table git_commit (
    seq int not null,
    sha text not null,
    parents int[] not null,
    author_name text not null,
    author_email text not null,
    authored_at timestamptz(3) not null,
    committed_at timestamptz(3) not null,
    subject text not null,
    body text not null,
    work_items text[] not null,
    pull_requests int[] not null,
    tenant_id uuid not null,
    project_id uuid not null,
    primary key (tenant_id, project_id, seq),
    unique (tenant_id, project_id, sha),
    ${PROJECT_KEY});
  create index git_commit_abbreviated on git_commit (tenant_id, project_id, sha text_pattern_ops);
  create index git_commit_work_items on git_commit using gin (work_items);
  ${fenceTenant('git_commit')}
  ${fenceProject('git_commit')}`;

const GIT_PACKAGE = `
  create table git_package (
    package_no int not null,
    name text not null,
    path text not null,
    version_number text,
    is_current boolean not null default true,
    tenant_id uuid not null,
    project_id uuid not null,
    dependencies text[] not null default '{}'::text[],
    primary key (tenant_id, project_id, package_no),
    ${PROJECT_KEY});
  create unique index git_package_current on git_package (tenant_id, project_id, name) where is_current;
  ${fenceTenant('git_package')}
  ${fenceProject('git_package')}`;

const GIT_COMMIT_PACKAGE = `
  create table git_commit_package (
    package_no int not null,
    seq int not null,
    parent_bits bigint not null,
    tenant_id uuid not null,
    project_id uuid not null,
    primary key (tenant_id, project_id, package_no, seq),
    ${PROJECT_KEY});
  ${fenceTenant('git_commit_package')}
  ${fenceProject('git_commit_package')}`;

const GIT_REF = `
  create table git_ref (
    kind text not null check (kind in ('branch', 'tag')),
    name text not null,
    sha text not null,
    tenant_id uuid not null,
    project_id uuid not null,
    primary key (tenant_id, project_id, kind, name),
    ${PROJECT_KEY});
  ${fenceTenant('git_ref')}
  ${fenceProject('git_ref')}`;

/** The commits of a package between two others: true for good, as commits never change. -1: from the beginning. */
const GIT_RANGE = `
  create table git_range (
    package_no int not null,
    from_seq int not null,
    to_seq int not null,
    commits int[] not null,
    work_items text[] not null,
    pull_requests int[] not null,
    tenant_id uuid not null,
    project_id uuid not null,
    primary key (tenant_id, project_id, package_no, from_seq, to_seq),
    ${PROJECT_KEY});
  ${fenceTenant('git_range')}
  ${fenceProject('git_range')}`;

const PULL_REQUEST = `
  create table pull_request (
    tenant_id uuid not null,
    project_id uuid not null,
    number int not null check (number > 0),
    title text not null,
    url text,
    state text not null check (state in ('open', 'closed', 'merged')),
    is_draft boolean not null,
    author text,
    author_key text,
    author_avatar_url text,
    branch text not null,
    base_branch text not null,
    head_sha text,
    base_sha text,
    merge_commit_sha text,
    labels jsonb not null,
    requested jsonb not null,
    reviews jsonb not null,
    is_in_review boolean not null,
    awaited text[] not null,
    opened_at timestamptz(3) not null,
    ended_at timestamptz(3),
    host_time timestamptz(3) not null,
    is_from_list boolean not null,
    changed_at timestamptz(3) not null,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    compared_base text,
    compared_head text,
    files jsonb,
    packages text[],
    commits_ahead int,
    commits_behind int,
    details_error text,
    reviews_read_at timestamptz(3),
    check (author_key = lower(author)),
    primary key (tenant_id, project_id, number),
    ${PROJECT_KEY});
  create index pull_request_open on pull_request (tenant_id, project_id) where state = 'open';
  create index pull_request_of_author on pull_request
    (tenant_id, project_id, author_key, state, coalesce(ended_at, changed_at) desc);
  create index pull_request_ended on pull_request (coalesce(ended_at, changed_at))
    where state in ('closed', 'merged');
  ${fenceTenant('pull_request')}
  ${fenceProject('pull_request')}`;

/** When pull requests were last read from their host, and what is known of them beside what the host lists. */
const PULL_REQUEST_REFRESH = `
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
    ${PROJECT_KEY});
  ${fenceTenant('pull_request_refresh')}
  ${fenceProject('pull_request_refresh')}
  ${openToSystem('pull_request_refresh', ['select'])}`;

/** What is known of the repositories of projects: mirrors, commits, packages and pull requests. */
export class Code extends Migration {
  override up(): void {
    for (const sql of [
      GIT_MIRROR,
      GIT_COMMIT,
      GIT_PACKAGE,
      GIT_COMMIT_PACKAGE,
      GIT_REF,
      GIT_RANGE,
      PULL_REQUEST,
      PULL_REQUEST_REFRESH,
    ])
      this.addSql(sql);
  }
}
