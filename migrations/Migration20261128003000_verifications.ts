import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, limitProjects, PROJECT_KEY, showToSystem, TENANT_OWNED } from './fences.ts';

const VERIFICATION = `
  alter table environment add column verification jsonb;
  create table verification (
    ${TENANT_OWNED},
    project_id uuid not null,
    environment_id uuid not null,
    deployment_id uuid not null,
    state text not null default 'pending'
      check (state in ('pending', 'running', 'verified', 'failed', 'superseded')),
    on_failure text not null,
    requested_by jsonb not null,
    detail text,
    reaction jsonb,
    begun_at timestamptz(3),
    ended_at timestamptz(3),
    unique (tenant_id, id),
    ${PROJECT_KEY},
    foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete cascade);
  create index verification_of_deployment on verification (tenant_id, deployment_id, created_at desc, id desc);
  create unique index verification_open_of_deployment on verification (tenant_id, deployment_id)
    where state in ('pending', 'running');
  create index verification_open on verification (tenant_id, environment_id) where state in ('pending', 'running');
  ${fenceTenant('verification', ['select', 'insert', 'update'])}
  ${fenceProject('verification')}
  ${showToSystem('verification', 'id, tenant_id, state, created_at, updated_at')}`;

const VERIFICATION_CHECK = `
  create table verification_check (
    ${TENANT_OWNED},
    verification_id uuid not null,
    position int not null,
    settings jsonb not null,
    state text not null default 'pending' check (state in ('pending', 'running', 'passed', 'failed', 'skipped')),
    detail text,
    run_id uuid,
    begun_at timestamptz(3),
    ended_at timestamptz(3),
    unique (tenant_id, verification_id, position),
    foreign key (tenant_id, verification_id) references verification (tenant_id, id) on delete cascade);
  ${fenceTenant('verification_check', ['select', 'insert', 'update'])}
  ${limitProjects(
    'verification_check',
    `exists (select from verification v
      where v.tenant_id = verification_check.tenant_id and v.id = verification_check.verification_id)`,
  )}`;

/** How environments verify deployments, and what came of it. */
export class Verifications extends Migration {
  override up(): void {
    this.addSql(VERIFICATION);
    this.addSql(VERIFICATION_CHECK);
  }
}
