import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, PROJECT_KEY, TENANT_OWNED } from './fences.ts';

const REVIEW_POOL = `
  create table review_pool (${TENANT_OWNED},
    project_id uuid not null,
    tag text not null,
    type text not null check (type in ('SANDBOX', 'SCRATCH_ORG')),
    min_available int not null check (min_available >= 0 and min_available <= 50),
    max_instances int not null check (max_instances >= 1 and max_instances <= 200),
    lease_hours int not null,
    max_lease_hours int not null,
    on_release text not null check (on_release in ('discard', 'reuse', 'refresh')),
    definition jsonb not null default '{}',
    is_active boolean not null default true,
    version int not null default 1,
    created_by text not null,
    updated_by text not null,
    prepare_run_id uuid,
    prepare_failures int not null default 0,
    prepare_due_at timestamptz(3),
    low_announced_at timestamptz(3),
    checked_at timestamptz(3),
    prepare_started_at timestamptz(3),
    prepare_error text,
    check (min_available <= max_instances),
    constraint review_pool_check1 check (lease_hours >= 1 and lease_hours <= max_lease_hours),
    unique (tenant_id, id),
    ${PROJECT_KEY});
  create unique index review_pool_tag on review_pool (tenant_id, project_id, tag);
  create index review_pool_of_run on review_pool (tenant_id, prepare_run_id) where prepare_run_id is not null;
  ${fenceTenant('review_pool')}
  ${fenceProject('review_pool')}
  ${openToSystem('review_pool', ['select'])}`;

const REVIEW_RULE = `
  create table review_rule (${TENANT_OWNED},
    project_id uuid not null,
    target_type text not null check (target_type in ('pool', 'environment')),
    pool_id uuid,
    environment_id uuid,
    branch_pattern text not null,
    domain_patterns jsonb not null default '[]',
    priority int not null default 0,
    description text not null default '',
    is_active boolean not null default true,
    version int not null default 1,
    created_by text not null,
    updated_by text not null,
    likeness text not null,
    check ((target_type = 'pool') = (pool_id is not null)),
    constraint review_rule_check1 check ((target_type = 'environment') = (environment_id is not null)),
    unique (tenant_id, project_id, likeness),
    ${PROJECT_KEY},
    foreign key (tenant_id, pool_id) references review_pool (tenant_id, id) on delete cascade,
    foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete cascade);
  create index review_rule_of_project on review_rule (tenant_id, project_id, id);
  create index review_rule_tenant_id_pool_id_idx on review_rule (tenant_id, pool_id) where pool_id is not null;
  create index review_rule_tenant_id_environment_id_idx on review_rule (tenant_id, environment_id)
    where environment_id is not null;
  ${fenceTenant('review_rule')}
  ${fenceProject('review_rule')}`;

const REVIEW_INSTANCE = `
  create table review_instance (${TENANT_OWNED},
    project_id uuid not null,
    pool_id uuid not null,
    username text not null,
    instance_url text,
    cli_auth_url text,
    expires_at timestamptz(3),
    metadata jsonb not null default '{}',
    state text not null check (state in ('provisioning', 'available', 'assigned', 'refreshing', 'expired', 'failed')),
    reason text,
    state_changed_at timestamptz(3) not null default now(),
    prepared_by uuid,
    unique (tenant_id, id),
    foreign key (tenant_id, pool_id) references review_pool (tenant_id, id) on delete cascade);
  create unique index review_instance_live on review_instance (tenant_id, lower(username))
    where state in ('provisioning', 'available', 'assigned', 'refreshing');
  create index review_instance_available on review_instance (tenant_id, pool_id, expires_at)
    where state = 'available';
  create index review_instance_of_pool on review_instance (tenant_id, pool_id, created_at);
  create index review_instance_ending on review_instance (expires_at)
    where (state in ('provisioning', 'available', 'assigned', 'refreshing')) and expires_at is not null;
  create index review_instance_of_run on review_instance (tenant_id, prepared_by) where prepared_by is not null;
  create index review_instance_ended on review_instance (state_changed_at) where state in ('expired', 'failed');
  ${fenceTenant('review_instance')}
  ${fenceProject('review_instance')}
  ${openToSystem('review_instance', ['select'])}`;

/** Who has which review org or dedicated environment, and who waits for one. */
const REVIEW_ASSIGNMENT = `
  create table review_assignment (${TENANT_OWNED},
    project_id uuid not null,
    number bigint generated always as identity,
    assignment_type text not null check (assignment_type in ('pr', 'issue', 'user', 'custom')),
    assignment_key text not null,
    branch text,
    domains jsonb not null default '[]',
    target_type text not null check (target_type in ('pool', 'environment')),
    target_name text not null,
    pool_id uuid,
    environment_id uuid,
    rule_id uuid,
    expiration_hours int,
    is_immortal boolean not null default false,
    state text not null default 'pending' check (state in ('pending', 'active', 'released', 'expired', 'failed')),
    instance_id uuid,
    org_username text,
    org_expires_at timestamptz(3),
    assigned_at timestamptz(3),
    expires_at timestamptz(3),
    warned_at timestamptz(3),
    ended_at timestamptz(3),
    reason text,
    requested_by jsonb not null,
    seen_at timestamptz(3),
    check (state <> 'active' or assigned_at is not null),
    unique (tenant_id, id),
    ${PROJECT_KEY},
    foreign key (tenant_id, pool_id) references review_pool (tenant_id, id) on delete set null (pool_id),
    foreign key (tenant_id, environment_id) references environment (tenant_id, id)
      on delete set null (environment_id),
    foreign key (tenant_id, instance_id) references review_instance (tenant_id, id) on delete set null (instance_id));
  create unique index review_assignment_of_key on review_assignment
    (tenant_id, project_id, assignment_type, assignment_key) where state in ('pending', 'active');
  create unique index review_assignment_of_instance on review_assignment (tenant_id, instance_id)
    where state = 'active' and instance_id is not null;
  create index review_assignment_line on review_assignment (tenant_id, pool_id, number) where state = 'pending';
  create index review_assignment_of_org on review_assignment (tenant_id, lower(org_username)) where state = 'active';
  create index review_assignment_list on review_assignment (tenant_id, project_id, number);
  create index review_assignment_tenant_id_instance_id_idx on review_assignment (tenant_id, instance_id)
    where instance_id is not null;
  create index review_assignment_tenant_id_pool_id_idx on review_assignment (tenant_id, pool_id)
    where pool_id is not null;
  create index review_assignment_tenant_id_environment_id_idx on review_assignment (tenant_id, environment_id)
    where environment_id is not null;
  create index review_assignment_open on review_assignment (expires_at) where state in ('pending', 'active');
  create index review_assignment_ended on review_assignment (ended_at) where ended_at is not null;
  ${fenceTenant('review_assignment', ['select', 'insert', 'update'])}
  ${fenceProject('review_assignment')}
  ${openToSystem('review_assignment', ['select'])}`;

/** Pools of review orgs, rules and assignments. */
export class Review extends Migration {
  override up(): void {
    for (const sql of [REVIEW_POOL, REVIEW_RULE, REVIEW_INSTANCE, REVIEW_ASSIGNMENT]) this.addSql(sql);
  }
}
