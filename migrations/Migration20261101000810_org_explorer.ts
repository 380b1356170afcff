import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, limitProjects, openToSystem, TENANT_OWNED } from './fences.ts';

const ORG_SYNC = `
  create table org_sync (${TENANT_OWNED},
    org_id uuid not null,
    platform_org_id text,
    source text not null check (source in ('refresh', 'ingest')),
    status text not null check (status in ('requested', 'running', 'succeeded', 'failed')),
    metadata_types jsonb,
    requested_by text not null,
    started_at timestamptz(3),
    finished_at timestamptz(3),
    step text,
    message text,
    types_count int not null default 0,
    components_count int not null default 0,
    files_retrieved int not null default 0,
    failed_types jsonb not null default '[]',
    duration_ms int,
    foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade);
  create unique index org_sync_tenant_id_org_id_idx on org_sync (tenant_id, org_id) where status = 'requested';
  create unique index org_sync_tenant_id_org_id_idx1 on org_sync (tenant_id, org_id) where status = 'running';
  create index org_sync_updated_at_idx on org_sync (updated_at) where status in ('requested', 'running');
  create index org_sync_tenant_id_org_id_updated_at_id_idx on org_sync (tenant_id, org_id, updated_at desc, id desc)
    where status in ('succeeded', 'failed');
  ${fenceTenant('org_sync')}
  ${limitProjects('org_sync', 'org_id in (select o.id from crm_org o where o.tenant_id = org_sync.tenant_id)')}
  ${openToSystem('org_sync', ['select', 'delete'])}`;

const ORG_COMPONENT_TYPE = `
  create table org_component_type (
    tenant_id uuid not null references tenant (id),
    org_id uuid not null,
    platform_org_id text not null,
    metadata_type text collate "C" not null,
    description jsonb,
    component_count int not null default 0,
    synced_at timestamptz(3),
    error text,
    listed_at timestamptz(3),
    primary key (tenant_id, org_id, platform_org_id, metadata_type),
    foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade);
  ${fenceTenant('org_component_type')}
  ${limitProjects(
    'org_component_type',
    'org_id in (select o.id from crm_org o where o.tenant_id = org_component_type.tenant_id)',
  )}`;

const ORG_COMPONENT = `
  create table org_component (
    id uuid primary key,
    tenant_id uuid not null references tenant (id),
    org_id uuid not null,
    platform_org_id text not null,
    metadata_type text collate "C" not null,
    member_name text collate "C" not null,
    file_name text,
    parent_type text,
    last_modified_at timestamptz(3),
    last_modified_by text,
    manageable_state text,
    namespace_prefix text,
    is_index_only boolean not null default false,
    is_due boolean not null default false,
    retrieve_id text,
    content_hash text,
    content_error text,
    fetched_at timestamptz(3),
    seen_at timestamptz(3) not null default now(),
    unique (tenant_id, org_id, platform_org_id, metadata_type, member_name),
    unique (tenant_id, id),
    foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade);
  create index org_component_tenant_id_org_id_platform_org_id_lower_idx on org_component
    (tenant_id, org_id, platform_org_id, lower(member_name));
  create index org_component_tenant_id_org_id_metadata_type_member_name_idx on org_component
    (tenant_id, org_id, metadata_type, member_name) where is_due;
  create index org_component_tenant_id_org_id_retrieve_id_idx on org_component (tenant_id, org_id, retrieve_id)
    where retrieve_id is not null;
  ${fenceTenant('org_component')}
  ${limitProjects(
    'org_component',
    'org_id in (select o.id from crm_org o where o.tenant_id = org_component.tenant_id)',
  )}`;

const ORG_COMPONENT_CHANGE = `
  create table org_component_change (
    id uuid primary key,
    tenant_id uuid not null references tenant (id),
    org_id uuid not null,
    platform_org_id text not null,
    sync_id uuid,
    metadata_type text collate "C" not null,
    member_name text collate "C" not null,
    change text not null check (change in ('created', 'changed', 'deleted')),
    modified_at timestamptz(3),
    modified_by text,
    before_hash text,
    after_hash text,
    detected_at timestamptz(3) not null default now(),
    foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade);
  create index org_component_change_tenant_id_org_id_platform_org_id_detec_idx on org_component_change
    (tenant_id, org_id, platform_org_id, detected_at desc, id desc);
  create index org_component_change_detected_at_idx on org_component_change (detected_at);
  create index org_component_change_tenant_id_org_id_sync_id_idx on org_component_change (tenant_id, org_id, sync_id)
    where sync_id is not null;
  ${fenceTenant('org_component_change')}
  ${limitProjects(
    'org_component_change',
    'org_id in (select o.id from crm_org o where o.tenant_id = org_component_change.tenant_id)',
  )}
  ${openToSystem('org_component_change', ['select', 'delete'])}`;

const ORG_CONTENT = `
  create table org_content (
    tenant_id uuid not null references tenant (id),
    sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    size_bytes int not null,
    is_text boolean not null,
    stored_at timestamptz(3),
    used_at timestamptz(3) not null default now(),
    removing_since timestamptz(3),
    primary key (tenant_id, sha256));
  create index org_content_used_at_idx on org_content (used_at);
  ${fenceTenant('org_content')}
  ${openToSystem('org_content', ['select', 'update', 'delete'])}`;

const ORG_COMPONENT_FILE = `
  create table org_component_file (
    tenant_id uuid not null references tenant (id),
    component_id uuid not null,
    file_name text collate "C" not null,
    full_name text not null,
    type text not null,
    state text not null check (state in ('Created', 'Changed', 'Unchanged', 'Deleted', 'Failed')),
    sha256 text,
    size_bytes int,
    fetched_at timestamptz(3) not null,
    primary key (tenant_id, component_id, file_name),
    foreign key (tenant_id, component_id) references org_component (tenant_id, id) on delete cascade,
    foreign key (tenant_id, sha256) references org_content (tenant_id, sha256));
  create index org_component_file_tenant_id_sha256_idx on org_component_file (tenant_id, sha256);
  ${fenceTenant('org_component_file')}
  ${limitProjects(
    'org_component_file',
    `exists (select from org_component c
      where c.tenant_id = org_component_file.tenant_id and c.id = org_component_file.component_id)`,
  )}
  ${openToSystem('org_component_file', ['select'])}`;

/** The metadata of orgs: an index of components, their files, and what changed between syncs. */
export class OrgExplorer extends Migration {
  override up(): void {
    for (const sql of [
      ORG_SYNC,
      ORG_COMPONENT_TYPE,
      ORG_COMPONENT,
      ORG_COMPONENT_CHANGE,
      ORG_CONTENT,
      ORG_COMPONENT_FILE,
    ])
      this.addSql(sql);
  }
}
