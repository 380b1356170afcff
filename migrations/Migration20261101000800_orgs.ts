import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, limitProjects, openToSystem, TENANT_OWNED } from './fences.ts';
import { sqlFunction } from './functions.ts';

const CRM_ORG = `
  create table crm_org (${TENANT_OWNED},
    username text not null,
    sandbox_name text,
    kind text not null check (kind in ('production', 'sandbox', 'scratch')),
    instance_url text not null,
    platform_org_id text not null,
    organization_type text not null,
    instance_name text,
    parent_production_username text,
    is_jit_registration boolean not null default false,
    is_dev_hub boolean not null default false,
    is_default boolean not null default false,
    metadata jsonb not null default '{}',
    expires_at timestamptz(3),
    expiry_announced_at timestamptz(3),
    health_status text not null default 'unknown'
      check (health_status in ('ok', 'auth_failed', 'unreachable', 'limited', 'unknown')),
    health_checked_at timestamptz(3),
    health_error text,
    health_hint text,
    check (is_dev_hub or not is_default),
    unique (tenant_id, id));
  create unique index crm_org_tenant_id_lower_idx on crm_org (tenant_id, lower(username));
  create index crm_org_tenant_id_lower_idx1 on crm_org (tenant_id, lower(sandbox_name))
    where sandbox_name is not null;
  create unique index crm_org_tenant_id_idx on crm_org (tenant_id) where is_default;
  create index crm_org_expires_at_idx on crm_org (expires_at)
    where expiry_announced_at is null and expires_at is not null;
  ${fenceTenant('crm_org')}
  ${openToSystem('crm_org', ['select'])}
  ${limitProjects('crm_org', 'lower(username) in (select named_orgs())')}`;

const CRM_TOKEN = `
  create table crm_token (${TENANT_OWNED},
    org_id uuid not null,
    reached_name text not null default '',
    credential text,
    credential_version int not null default 1,
    access_token text,
    instance_url text,
    minted_at timestamptz(3),
    username text,
    platform_org_id text,
    generation int not null default 0,
    failure jsonb,
    lease_id uuid,
    lease_until timestamptz(3),
    api_calls_used int,
    api_calls_max int,
    api_calls_at timestamptz(3),
    constraint crm_token_tenant_id_org_id_sandbox_name_key unique (tenant_id, org_id, reached_name),
    foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade);
  ${fenceTenant('crm_token')}
  ${limitProjects(
    'crm_token',
    'exists (select from crm_org o where o.tenant_id = crm_token.tenant_id and o.id = crm_token.org_id)',
  )}`;

const ORG_LIMIT_STATE = `
  create table org_limit_state (
    tenant_id uuid not null references tenant (id),
    org_id uuid not null,
    due_at timestamptz(3) not null default now(),
    claims int not null default 0,
    lease_until timestamptz(3),
    forced_at timestamptz(3),
    attempted_at timestamptz(3),
    polled_at timestamptz(3),
    failures int not null default 0,
    failure jsonb,
    limits jsonb not null default '[]',
    worst jsonb,
    primary key (tenant_id, org_id),
    foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade);
  create index org_limit_state_due_at_idx on org_limit_state (due_at);
  ${fenceTenant('org_limit_state')}
  ${openToSystem('org_limit_state', ['select', 'insert', 'update'])}
  ${limitProjects(
    'org_limit_state',
    'exists (select from crm_org o where o.tenant_id = org_limit_state.tenant_id and o.id = org_limit_state.org_id)',
  )}`;

const ORG_LIMIT_SAMPLE = `
  create table org_limit_sample (
    tenant_id uuid not null references tenant (id),
    org_id uuid not null,
    sampled_at timestamptz(3) not null,
    used bigint[] not null,
    max bigint[] not null,
    primary key (tenant_id, org_id, sampled_at),
    foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade);
  create index org_limit_sample_sampled_at_idx on org_limit_sample (sampled_at);
  ${fenceTenant('org_limit_sample')}
  ${openToSystem('org_limit_sample', ['select', 'delete'])}
  ${limitProjects(
    'org_limit_sample',
    'exists (select from crm_org o where o.tenant_id = org_limit_sample.tenant_id and o.id = org_limit_sample.org_id)',
  )}`;

const ORG_LIMIT_HOUR = `
  create table org_limit_hour (
    tenant_id uuid not null references tenant (id),
    org_id uuid not null,
    hour timestamptz(3) not null,
    peaks int[] not null,
    primary key (tenant_id, org_id, hour),
    foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade);
  create index org_limit_hour_hour_idx on org_limit_hour (hour);
  ${fenceTenant('org_limit_hour')}
  ${openToSystem('org_limit_hour', ['select', 'delete'])}
  ${limitProjects(
    'org_limit_hour',
    'exists (select from crm_org o where o.tenant_id = org_limit_hour.tenant_id and o.id = org_limit_hour.org_id)',
  )}`;

/** Registered orgs of the CRM platform with their credentials and limits. */
export class Orgs extends Migration {
  override up(): void {
    this.addSql(sqlFunction('orgs/named_orgs'));
    for (const sql of [CRM_ORG, CRM_TOKEN, ORG_LIMIT_STATE, ORG_LIMIT_SAMPLE, ORG_LIMIT_HOUR]) this.addSql(sql);
  }
}
