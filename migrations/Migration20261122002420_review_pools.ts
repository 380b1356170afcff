import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, TENANT_OWNED } from './fences.ts';

const OF_PROJECT = `${TENANT_OWNED},
  project_id uuid not null`;
const GOES_WITH_PROJECT = 'foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade';
const LIVE = `state in ('provisioning', 'available', 'assigned', 'refreshing')`;

/** Pools of review orgs, their orgs, and the rules by which a branch gets a pool or a dedicated environment. */
export class ReviewPools extends Migration {
  override up(): void {
    this.addSql(`
      create table review_pool (${OF_PROJECT},
        tag text not null,
        type text not null check (type in ('SANDBOX', 'SCRATCH_ORG')),
        min_available int not null check (min_available between 0 and 50),
        max_instances int not null check (max_instances between 1 and 200),
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
        check (min_available <= max_instances),
        check (lease_hours between 1 and max_lease_hours),
        ${GOES_WITH_PROJECT},
        unique (tenant_id, id));
      create unique index review_pool_tag on review_pool (tenant_id, project_id, tag);
      ${fenceTenant('review_pool')}
      ${fenceProject('review_pool')}
      ${openToSystem('review_pool', ['select'])}`);
    this.addSql(`
      create table review_instance (${OF_PROJECT},
        pool_id uuid not null,
        username text not null,
        instance_url text,
        cli_auth_url text,
        expires_at timestamptz(3),
        metadata jsonb not null default '{}',
        state text not null
          check (state in ('provisioning', 'available', 'assigned', 'refreshing', 'expired', 'failed')),
        reason text,
        state_changed_at timestamptz(3) not null default now(),
        foreign key (tenant_id, pool_id) references review_pool (tenant_id, id) on delete cascade,
        unique (tenant_id, id));
      create unique index review_instance_live on review_instance (tenant_id, lower(username)) where ${LIVE};
      create index review_instance_available on review_instance (tenant_id, pool_id, expires_at)
        where state = 'available';
      create index review_instance_of_pool on review_instance (tenant_id, pool_id, created_at);
      create index review_instance_ending on review_instance (expires_at) where ${LIVE} and expires_at is not null;
      ${fenceTenant('review_instance')}
      ${fenceProject('review_instance')}
      ${openToSystem('review_instance', ['select'])}`);
    this.addSql(`
      create table review_rule (${OF_PROJECT},
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
        check ((target_type = 'environment') = (environment_id is not null)),
        ${GOES_WITH_PROJECT},
        foreign key (tenant_id, pool_id) references review_pool (tenant_id, id) on delete cascade,
        foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete cascade,
        unique (tenant_id, project_id, likeness));
      create index review_rule_of_project on review_rule (tenant_id, project_id, id);
      create index on review_rule (tenant_id, pool_id) where pool_id is not null;
      create index on review_rule (tenant_id, environment_id) where environment_id is not null;
      ${fenceTenant('review_rule')}
      ${fenceProject('review_rule')}`);
  }
}
