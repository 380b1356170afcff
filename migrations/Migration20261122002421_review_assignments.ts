import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, TENANT_OWNED } from './fences.ts';

const OPEN = `state in ('pending', 'active')`;

/** Who has which review org or dedicated environment, and who waits for one. */
export class ReviewAssignments extends Migration {
  override up(): void {
    this.addSql('alter table review_pool add column prepare_started_at timestamptz(3)');
    this.addSql(`
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
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade,
        foreign key (tenant_id, pool_id) references review_pool (tenant_id, id) on delete set null (pool_id),
        foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete set null (environment_id),
        foreign key (tenant_id, instance_id) references review_instance (tenant_id, id) on delete set null (instance_id),
        unique (tenant_id, id));
      create unique index review_assignment_of_key
        on review_assignment (tenant_id, project_id, assignment_type, assignment_key) where ${OPEN};
      create unique index review_assignment_of_instance on review_assignment (tenant_id, instance_id)
        where state = 'active' and instance_id is not null;
      create index review_assignment_line on review_assignment (tenant_id, pool_id, number) where state = 'pending';
      create index review_assignment_of_org on review_assignment (tenant_id, lower(org_username)) where state = 'active';
      create index review_assignment_list on review_assignment (tenant_id, project_id, number);
      create index on review_assignment (tenant_id, instance_id) where instance_id is not null;
      create index on review_assignment (tenant_id, pool_id) where pool_id is not null;
      create index on review_assignment (tenant_id, environment_id) where environment_id is not null;
      create index review_assignment_open on review_assignment (expires_at) where ${OPEN};
      ${fenceTenant('review_assignment', ['select', 'insert', 'update'])}
      ${fenceProject('review_assignment')}
      ${openToSystem('review_assignment', ['select'])}`);
  }
}
