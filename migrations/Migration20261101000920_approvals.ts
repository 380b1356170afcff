import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, PROJECT_KEY, TENANT_OWNED } from './fences.ts';

const APPROVAL = `
  create table approval (${TENANT_OWNED},
    project_id uuid,
    repository_identifier text,
    run_id uuid not null,
    task_type text not null,
    environment_id uuid,
    environment_name text,
    domain text,
    release_name text,
    status text not null default 'requested'
      check (status in ('requested', 'approved', 'rejected', 'expired', 'stale')),
    approvers text[] not null,
    min_approvals int not null,
    allow_self_approval boolean not null,
    expires_at timestamptz not null,
    requester_id text not null,
    requested_by text not null,
    resolved_by text,
    resolved_at timestamptz(3),
    comment text,
    confirmed_at timestamptz(3),
    run_notified_at timestamptz(3),
    requester_ids text[] not null default '{}'::text[],
    allow_sole_owner boolean not null default false,
    content_digest text,
    unique (tenant_id, id),
    unique (tenant_id, run_id),
    ${PROJECT_KEY},
    foreign key (tenant_id, run_id) references flow_run (tenant_id, id) on delete cascade,
    foreign key (tenant_id, environment_id) references environment (tenant_id, id)
      on delete set null (environment_id));
  create index approval_newest on approval (tenant_id, status, created_at desc, id desc);
  create index approval_of_project on approval (tenant_id, project_id, status, created_at desc, id desc);
  create index approval_of_candidate on approval (tenant_id, project_id, domain, release_name)
    where status = 'requested';
  create index approval_of_environment on approval (tenant_id, environment_id) where environment_id is not null;
  create index approval_untold on approval (created_at) where run_notified_at is null;
  create index approval_given on approval (tenant_id, project_id, domain, release_name) where status = 'approved';
  ${fenceTenant('approval', ['select', 'insert', 'update'])}
  ${fenceProject('approval')}
  ${openToSystem('approval', ['select'])}`;

/** Names instead of references: the steps outlive what they were about. */
const APPROVAL_EVENT = `
  create table approval_event (
    id uuid primary key,
    tenant_id uuid not null references tenant (id),
    project_id uuid,
    repository_identifier text,
    approval_id uuid,
    run_id uuid not null,
    task_type text not null,
    environment_name text,
    domain text,
    release_name text,
    status text not null check (status in ('requested', 'approved', 'rejected', 'expired', 'stale', 'overridden')),
    source text not null,
    voter_id text,
    vote text check (vote in ('approve', 'reject')),
    approvers text[] not null,
    requested_by text not null,
    requested_at timestamptz(3) not null,
    resolved_by text,
    resolved_at timestamptz(3),
    comment text,
    occurred_at timestamptz(3) not null,
    override jsonb,
    unique (tenant_id, approval_id, voter_id, vote),
    check ((approval_id is null) = (status = 'overridden')));
  create index approval_event_of_approval on approval_event (tenant_id, approval_id, occurred_at, id);
  create index approval_event_newest on approval_event (tenant_id, repository_identifier, occurred_at desc, id desc)
    include (status, environment_name, domain, task_type);
  create unique index approval_event_of_override on approval_event (tenant_id, run_id) where approval_id is null;
  ${fenceTenant('approval_event', ['select', 'insert'])}
  ${fenceProject('approval_event')}`;

const ENVIRONMENT_LOCK_TICKET = `
  create table environment_lock_ticket (${TENANT_OWNED},
    project_id uuid not null,
    environment_id uuid not null,
    number bigint generated always as identity,
    holder jsonb not null,
    holder_key text not null,
    execution_id text,
    run_id uuid,
    reason text,
    lease_minutes float8 not null,
    state text not null default 'asked'
      check (state in ('asked', 'queued', 'held', 'released', 'expired', 'withdrawn')),
    held_at timestamptz(3),
    expires_at timestamptz,
    ended_at timestamptz(3),
    unique (tenant_id, id),
    foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete cascade);
  create unique index environment_lock_holder on environment_lock_ticket (tenant_id, environment_id)
    where state = 'held';
  create unique index environment_lock_of_holder on environment_lock_ticket (tenant_id, environment_id, holder_key)
    where state in ('asked', 'queued', 'held');
  create index environment_lock_line on environment_lock_ticket (tenant_id, environment_id, number)
    where state in ('asked', 'queued', 'held');
  create index environment_lock_past on environment_lock_ticket (tenant_id, environment_id, ended_at desc)
    where held_at is not null and ended_at is not null;
  create index environment_lock_of_run on environment_lock_ticket (tenant_id, run_id)
    where (state in ('asked', 'queued', 'held')) and run_id is not null;
  create index environment_lock_live on environment_lock_ticket (created_at)
    where state in ('asked', 'queued', 'held');
  create index environment_lock_ended on environment_lock_ticket (ended_at);
  create index environment_lock_lapsed on environment_lock_ticket (tenant_id, environment_id)
    where state = 'expired' and ended_at is null;
  ${fenceTenant('environment_lock_ticket', ['select', 'insert', 'update'])}
  ${fenceProject('environment_lock_ticket')}
  ${openToSystem('environment_lock_ticket', ['select'])}`;

/** Approvals with each of their steps, and tickets of those who wait for an environment. */
export class Approvals extends Migration {
  override up(): void {
    for (const sql of [APPROVAL, APPROVAL_EVENT, ENVIRONMENT_LOCK_TICKET]) this.addSql(sql);
  }
}
