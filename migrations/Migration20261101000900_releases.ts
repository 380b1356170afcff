import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, PROJECT_KEY, TENANT_OWNED } from './fences.ts';

const RELEASE_CANDIDATE = `
  create table release_candidate (${TENANT_OWNED},
    project_id uuid not null,
    domain text not null,
    release_name text not null,
    commit_sha text not null,
    branch text,
    tag text,
    value jsonb not null default '{}',
    status text not null default 'pending',
    status_changed_at timestamptz(3),
    status_changed_by text,
    created_by text not null,
    updated_by text not null,
    version int not null default 1,
    content_digest text not null default '',
    superseded_by text,
    unique (tenant_id, id),
    unique (tenant_id, project_id, domain, release_name),
    ${PROJECT_KEY});
  create index release_candidate_open on release_candidate (tenant_id, project_id, created_at desc, id desc)
    include (domain, branch, status) where status <> 'finalized';
  create index release_candidate_all on release_candidate (tenant_id, project_id, created_at desc, id desc)
    include (domain, branch, status);
  create index release_candidate_of_domain on release_candidate
    (tenant_id, project_id, domain, created_at desc, id desc) include (domain, branch, status);
  create index release_candidate_of_branch on release_candidate
    (tenant_id, project_id, branch, created_at desc, id desc) include (domain, branch, status);
  create index release_candidate_of_commit on release_candidate (tenant_id, project_id, commit_sha text_pattern_ops);
  ${fenceTenant('release_candidate')}
  ${fenceProject('release_candidate')}`;

const RELEASE_CANDIDATE_COUNT = `
  create table release_candidate_count (
    tenant_id uuid not null,
    project_id uuid not null,
    domain text not null,
    branch text not null,
    status text not null,
    candidates bigint not null,
    primary key (tenant_id, project_id, domain, branch, status),
    ${PROJECT_KEY}) with (fillfactor = 70);
  ${fenceTenant('release_candidate_count', ['select'])}
  ${fenceProject('release_candidate_count')}`;

/** The commit of a version: that of the first release candidate that held it. */
const PACKAGE_VERSION = `
  create table package_version (
    tenant_id uuid not null,
    project_id uuid not null,
    name text not null,
    version text not null,
    candidate_id uuid not null,
    commit_sha text not null,
    created_at timestamptz(3) not null,
    moves int not null default 0,
    primary key (tenant_id, project_id, name, version),
    ${PROJECT_KEY});
  create index package_version_moved on package_version (tenant_id, project_id) include (moves) where moves > 0;
  ${fenceTenant('package_version', ['select'])}
  ${fenceProject('package_version')}`;

const RELEASE_DEPLOYMENT = `
  create table release_deployment (${TENANT_OWNED},
    project_id uuid not null,
    environment_id uuid not null,
    candidate_id uuid,
    domain text not null,
    release_name text not null,
    status text not null check (status in ('Success', 'Failed', 'Partial', 'Cancelled')),
    deployed_at timestamptz(3) not null,
    dedupe_key text not null,
    execution_id text,
    packages jsonb not null default '{}',
    package_details jsonb not null default '[]',
    release_definition jsonb,
    metadata jsonb,
    approval jsonb,
    rolled_back_at timestamptz(3),
    reported_by jsonb not null,
    request_id text,
    traceparent text,
    applied_at timestamptz(3),
    outcome jsonb,
    rollback jsonb,
    content_digest text,
    installed jsonb not null default '{}',
    installs_all boolean not null default false,
    policy_violations jsonb not null default '[]',
    commit_sha text,
    unique (tenant_id, project_id, domain, release_name, environment_id, dedupe_key),
    ${PROJECT_KEY},
    foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete cascade,
    foreign key (tenant_id, candidate_id) references release_candidate (tenant_id, id)
      on delete set null (candidate_id));
  create index release_deployment_of_candidate on release_deployment
    (tenant_id, candidate_id, environment_id, deployed_at desc, id desc);
  create index release_deployment_of_environment on release_deployment
    (tenant_id, environment_id, deployed_at desc, id desc);
  create index release_deployment_of_project on release_deployment (tenant_id, project_id, deployed_at desc, id desc);
  create index release_deployment_unapplied on release_deployment (created_at) where applied_at is null;
  create index release_deployment_of_release on release_deployment
    (tenant_id, project_id, domain, release_name, environment_id, deployed_at desc, id desc);
  create index release_deployment_success on release_deployment
    (tenant_id, environment_id, domain, deployed_at desc, id desc) where status = 'Success';
  create index release_deployment_log on release_deployment (tenant_id, project_id, environment_id, domain)
    include (id, deployed_at, status, rolled_back_at);
  create index release_deployment_violations_of_run on release_deployment (tenant_id, execution_id)
    where policy_violations <> '[]';
  ${fenceTenant('release_deployment')}
  ${fenceProject('release_deployment')}
  ${openToSystem('release_deployment', ['select'])}`;

/** Release candidates with their counts, versions of packages, and deployments. */
export class Releases extends Migration {
  override up(): void {
    for (const sql of [RELEASE_CANDIDATE, RELEASE_CANDIDATE_COUNT, PACKAGE_VERSION, RELEASE_DEPLOYMENT])
      this.addSql(sql);
  }
}
