import { Migration } from '@mikro-orm/migrations';
import {
  APP_ROLE,
  fenceProject,
  fenceTenant,
  limitProjects,
  PROJECT_KEY,
  TENANT_OWNED,
  showToSystem,
} from './fences.ts';

const PROJECT = `
  create table project (${TENANT_OWNED},
    identifier text not null,
    remote_url text,
    platform text not null check (platform in ('host-a', 'host-b', 'host-c')),
    default_branch text not null,
    configuration jsonb not null default '{}',
    version int not null default 1,
    unique (tenant_id, identifier),
    unique (tenant_id, id));
  create index project_of_host on project (platform, lower(identifier));
  ${fenceTenant('project')}
  ${fenceProject('project', 'id')}
  ${showToSystem('project', 'id, tenant_id, identifier, remote_url')}`;

const ENVIRONMENT = `
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
    promotion jsonb,
    browser jsonb,
    unique (tenant_id, id),
    unique (tenant_id, project_id, name),
    ${PROJECT_KEY});
  ${fenceTenant('environment')}
  ${fenceProject('environment')}
  ${showToSystem('environment', 'id, tenant_id, project_id, name')}`;

/** What holds for the whole tenant holds for the projects of a scoped token, too. */
const INTEGRATION = `
  create table integration (${TENANT_OWNED},
    project_id uuid,
    kind text not null,
    name text not null,
    base_url text,
    settings jsonb not null default '{}',
    credentials text not null,
    credentials_updated_at timestamptz(3) not null default now(),
    is_active boolean not null default true,
    version int not null default 1,
    created_by text not null,
    unique nulls not distinct (tenant_id, kind, project_id),
    ${PROJECT_KEY});
  ${fenceTenant('integration')}
  create policy project on integration as restrictive to ${APP_ROLE}
    using ((select current_projects()) is null or project_id is null
      or project_id = any ((select current_projects())::uuid[]))
    with check ((select current_projects()) is null or project_id = any ((select current_projects())::uuid[]));`;

/** A token with projects sees the webhooks of these. */
const WEBHOOK_FENCE = `
  ${limitProjects(
    'webhook',
    'repository_identifier in (select identifier from project where tenant_id = (select current_tenant()))',
  )}`;

/** Projects with their environments and integrations. */
export class Projects extends Migration {
  override up(): void {
    for (const sql of [PROJECT, ENVIRONMENT, INTEGRATION, WEBHOOK_FENCE]) this.addSql(sql);
  }
}
