import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, openToSystem, PROJECT_KEY, TENANT_OWNED } from './fences.ts';

/** Room on each page: repeated events change `last_event_at` alone, which no index has. */
const GC_ENTRY = `
  create table gc_entry (
    tenant_id uuid not null references tenant (id),
    id uuid not null,
    project_id uuid not null,
    branch text collate "C" not null,
    package_name text collate "C" not null,
    component_type text collate "C" not null,
    full_name text collate "C" not null,
    status text not null
      check (status in ('detected', 'moved', 'handled', 'restored', 'dismissed', 'owned-elsewhere', 'reclaimed')),
    moved_to text collate "C",
    owner_project_id uuid,
    detected_at timestamptz(3),
    last_event_at timestamptz(3) not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    evidence_since timestamptz(3) not null,
    primary key (tenant_id, id),
    ${PROJECT_KEY},
    unique (tenant_id, project_id, branch, package_name, component_type, full_name)
      include (id)) with (fillfactor = 75);
  create index gc_entry_by_status on gc_entry
    (tenant_id, project_id, status, branch, package_name, component_type, full_name) include (id);
  ${fenceTenant('gc_entry')}
  ${fenceProject('gc_entry')}`;

/**
 * No foreign key to the entry, which would be checked 10,000 times in a request: `follow_gc_entries` removes what
 * belongs to one.
 */
const GC_EVENT = `
  create table gc_event (
    tenant_id uuid not null,
    entry_id uuid not null,
    number bigint generated always as identity,
    project_id uuid not null,
    occurred_at timestamptz(3) not null,
    from_status text,
    to_status text not null,
    cause text not null check (cause in ('event', 'manifest', 'org_check', 'person')),
    moved_to text,
    environment text,
    reason text,
    changed_by text not null,
    primary key (tenant_id, entry_id, number));
  ${fenceTenant('gc_event')}
  ${fenceProject('gc_event')}`;

const GC_PRESENCE = `
  create table gc_presence (
    tenant_id uuid not null,
    entry_id uuid not null,
    environment_id uuid not null,
    project_id uuid not null,
    presence text not null check (presence in ('present', 'absent', 'unknown')),
    checked_at timestamptz(3) not null,
    org_username text not null,
    primary key (tenant_id, entry_id, environment_id),
    foreign key (tenant_id, environment_id) references environment (tenant_id, id) on delete cascade);
  create index gc_presence_of_environment on gc_presence (tenant_id, environment_id);
  ${fenceTenant('gc_presence')}
  ${fenceProject('gc_presence')}`;

const GC_TALLY = `
  create table gc_tally (
    tenant_id uuid not null,
    project_id uuid not null,
    branch text collate "C" not null,
    package_name text collate "C" not null,
    status text not null,
    entries bigint not null,
    primary key (tenant_id, project_id, branch, package_name, status),
    ${PROJECT_KEY}) with (fillfactor = 70);
  ${fenceTenant('gc_tally', ['select'])}
  ${fenceProject('gc_tally')}`;

const GC_CHECK = `
  create table gc_check (${TENANT_OWNED},
    project_id uuid not null,
    branch text collate "C" not null,
    status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed')),
    requested_by text not null,
    environments jsonb not null default '[]',
    error text,
    ended_at timestamptz(3),
    ${PROJECT_KEY});
  create unique index gc_check_under_way on gc_check (tenant_id, project_id, branch)
    where status in ('queued', 'running');
  ${fenceTenant('gc_check')}
  ${fenceProject('gc_check')}
  ${openToSystem('gc_check', ['select'])}`;

/** Components that packages have dropped, and what became of them in the orgs. */
export class GcLedger extends Migration {
  override up(): void {
    for (const sql of [GC_ENTRY, GC_EVENT, GC_PRESENCE, GC_TALLY, GC_CHECK]) this.addSql(sql);
  }
}
