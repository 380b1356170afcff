import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, TENANT_OWNED } from './fences.ts';

/** Projects and their environments. */
export class Projects extends Migration {
  override up(): void {
    this.addSql(`
      create table project (${TENANT_OWNED},
        identifier text not null,
        remote_url text,
        platform text not null check (platform in ('host-a', 'host-b', 'host-c')),
        default_branch text not null,
        configuration jsonb not null default '{}',
        version int not null default 1,
        unique (tenant_id, identifier),
        unique (tenant_id, id));
      ${fenceTenant('project')}
      ${fenceProject('project', 'id')}`);
    this.addSql(`
      create table environment (${TENANT_OWNED},
        project_id uuid not null,
        name text not null,
        description text not null default '',
        category text not null check (category in ('dev', 'test', 'snapshot', 'release')),
        org_username text,
        dev_hub_username text,
        branch text not null default '**',
        orchestration_order int not null default 0,
        is_active boolean not null default true,
        tags jsonb not null default '[]',
        metadata jsonb not null default '{}',
        approval_policy jsonb,
        version int not null default 1,
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade,
        unique (tenant_id, id),
        unique (tenant_id, project_id, name));
      ${fenceTenant('environment')}
      ${fenceProject('environment')}`);
  }
}
