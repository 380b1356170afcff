import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, TENANT_OWNED } from './fences.ts';

const STATUSES = `status in ('requested', 'approved', 'rejected', 'expired', 'stale')`;

/** Approvals that runs wait for, and their steps, which nobody but the owner of the schema can change or remove. */
export class Approvals extends Migration {
  override up(): void {
    this.addSql(`
      create table approval (${TENANT_OWNED},
        project_id uuid,
        repository_identifier text,
        run_id uuid not null,
        task_type text not null,
        environment_id uuid,
        environment_name text,
        domain text,
        release_name text,
        status text not null default 'requested' check (${STATUSES}),
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
        told_at timestamptz(3),
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade,
        foreign key (tenant_id, run_id) references flow_run (tenant_id, id) on delete cascade,
        foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete set null (environment_id),
        unique (tenant_id, id),
        unique (tenant_id, run_id));
      create index approval_newest on approval (tenant_id, status, created_at desc, id desc);
      create index approval_of_project on approval (tenant_id, project_id, status, created_at desc, id desc);
      create index approval_of_candidate on approval (tenant_id, project_id, domain, release_name) where status = 'requested';
      create index approval_of_environment on approval (tenant_id, environment_id) where environment_id is not null;
      create index approval_untold on approval (created_at) where told_at is null;
      ${fenceTenant('approval', ['select', 'insert', 'update'])}
      ${fenceProject('approval')}
      ${openToSystem('approval', ['select'])}`);
    // Names instead of references: the steps outlive what they were about.
    this.addSql(`
      create table approval_event (
        id uuid primary key,
        tenant_id uuid not null references tenant (id),
        project_id uuid,
        repository_identifier text,
        approval_id uuid not null,
        run_id uuid not null,
        task_type text not null,
        environment_name text,
        domain text,
        release_name text,
        status text not null check (${STATUSES}),
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
        unique (tenant_id, approval_id, voter_id, vote));
      create index approval_event_of_approval on approval_event (tenant_id, approval_id, occurred_at, id);
      create index approval_event_newest on approval_event (tenant_id, repository_identifier, occurred_at desc, id desc)
        include (status, environment_name, domain, task_type);
      ${fenceTenant('approval_event', ['select', 'insert'])}
      ${fenceProject('approval_event')}`);
  }
}
