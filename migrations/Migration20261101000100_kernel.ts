import { Migration } from '@mikro-orm/migrations';
import {
  APP_ROLE,
  BROWSERS_ROLE,
  createRole,
  fenceTenant,
  hideFromProjects,
  openToAll,
  openToSystem,
  SYSTEM_ROLE,
  TENANT_OWNED,
} from './fences.ts';
import { sqlFunction } from './functions.ts';

/**
 * `chat_key` names the tenant in the public addresses of its app: the same for all its workspaces, and known before
 * the first.
 */
const TENANT = `
  create table tenant (
    id uuid primary key,
    slug text not null check (slug ~ '^[a-z0-9-]{1,40}$') unique,
    created_at timestamptz(3) not null default now(),
    chat_key text not null default gen_random_uuid()::text);
  create unique index tenant_chat_key on tenant (chat_key);
  alter table tenant enable row level security;
  create policy tenant on tenant to ${APP_ROLE} using (id = (select current_tenant()));
  grant select on tenant to ${APP_ROLE};`;

/** Actors have columns of their own: under row-level security an expression over JSON is no key for an index. */
const AUDIT_ENTRY = `
  create table audit_entry (
    tenant_id uuid not null references tenant (id),
    sequence bigint not null,
    id uuid not null unique,
    occurred_at timestamptz(3) not null,
    source text not null,
    action text not null,
    actor jsonb not null,
    repository_identifier text,
    entity_type text not null,
    entity_id text,
    summary text not null,
    before jsonb,
    after jsonb,
    request_id text,
    prev_hash text not null,
    hash text not null,
    actor_email text generated always as (actor ->> 'email') stored not null,
    actor_id text generated always as (actor ->> 'id') stored not null,
    primary key (tenant_id, sequence));
  create index audit_entry_by_time on audit_entry (tenant_id, occurred_at, sequence);
  create index audit_entry_by_source on audit_entry (tenant_id, source, occurred_at, sequence);
  create index audit_entry_by_action on audit_entry (tenant_id, action, occurred_at, sequence);
  create index audit_entry_by_email on audit_entry (tenant_id, actor_email, occurred_at, sequence);
  create index audit_entry_by_actor on audit_entry (tenant_id, actor_id, occurred_at, sequence);
  create index audit_entry_by_repository on audit_entry (tenant_id, repository_identifier, occurred_at, sequence)
    where repository_identifier is not null;
  create index audit_entry_by_entity on audit_entry (tenant_id, entity_id, occurred_at, sequence)
    where entity_id is not null;
  ${fenceTenant('audit_entry', ['select'])}
  ${hideFromProjects('audit_entry')}`;

const AUDIT_HEAD = `
  create table audit_head (
    tenant_id uuid primary key references tenant (id),
    sequence bigint not null,
    hash text not null) with (fillfactor = 50);
  alter table audit_head enable row level security;
  create policy tenant on audit_head to ${APP_ROLE} using (tenant_id = (select current_tenant()));
  ${hideFromProjects('audit_head')}
  grant select on audit_head to ${APP_ROLE};`;

/** How many entries of one kind an hour has: a million of them need not be counted for each page. */
const AUDIT_TALLY = `
  create table audit_tally (
    tenant_id uuid not null references tenant (id),
    facet text not null,
    value text collate "C" not null,
    hour timestamptz not null,
    entries bigint not null,
    primary key (tenant_id, facet, value, hour)) with (fillfactor = 50);
  ${fenceTenant('audit_tally', ['select'])}
  ${hideFromProjects('audit_tally')}`;

const AUDIT_EXPORT = `
  create table audit_export (${TENANT_OWNED},
    status text not null default 'queued',
    filters jsonb not null,
    requested_by text not null,
    requested_at timestamptz(3) not null default now(),
    upper_sequence bigint not null,
    object_key text,
    file_name text,
    row_count bigint,
    file_size_bytes bigint,
    sha256 text,
    error text,
    completed_at timestamptz(3),
    expires_at timestamptz(3) not null);
  create index audit_export_open on audit_export (created_at) where status in ('queued', 'running');
  create index audit_export_to_expire on audit_export (expires_at) where status = 'completed';
  ${fenceTenant('audit_export', ['select', 'insert', 'update'])}
  ${openToSystem('audit_export', ['select'])}
  ${hideFromProjects('audit_export')}`;

const IDEMPOTENCY_KEY = `
  create table idempotency_key (
    tenant_id uuid not null references tenant (id),
    subject text not null,
    method text not null,
    path text not null,
    key text not null,
    body_hash text not null,
    started_at timestamptz(3) not null default now(),
    status int,
    reply text,
    done_at timestamptz(3),
    primary key (tenant_id, subject, method, path, key));
  create index idempotency_key_age on idempotency_key (started_at);
  ${fenceTenant('idempotency_key')}`;

/** Unlogged: a crash of the database forgets counts of a minute, and no count waits for the disk. */
const RATE_LIMIT = `
  create unlogged table rate_limit (
    key text primary key,
    taken int not null,
    expires_at timestamptz(3) not null);
  ${openToAll('rate_limit', APP_ROLE, ['select', 'insert', 'update', 'delete'])}`;

const SWEEP_FAILURE = `
  create table sweep_failure (
    sweep text not null,
    row_key text not null,
    attempts int not null,
    last_error text not null,
    first_failed_at timestamptz(3) not null default now(),
    next_attempt_at timestamptz(3) not null,
    primary key (sweep, row_key));
  ${openToAll('sweep_failure', SYSTEM_ROLE, ['select', 'insert', 'update', 'delete'])}`;

/** Tenants, the audit trail, replies that are kept for repeated requests, limits of rates, and failures of sweeps. */
export class Kernel extends Migration {
  override up(): void {
    for (const role of [APP_ROLE, SYSTEM_ROLE, BROWSERS_ROLE]) this.addSql(createRole(role));
    this.addSql(sqlFunction('kernel/current_tenant'));
    this.addSql(sqlFunction('kernel/current_projects'));
    this.addSql(sqlFunction('kernel/current_run'));
    this.addSql(sqlFunction('kernel/current_collections'));
    for (const sql of [
      TENANT,
      AUDIT_ENTRY,
      AUDIT_HEAD,
      AUDIT_TALLY,
      AUDIT_EXPORT,
      IDEMPOTENCY_KEY,
      RATE_LIMIT,
      SWEEP_FAILURE,
    ])
      this.addSql(sql);
  }
}
