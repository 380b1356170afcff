import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, openToSystem, TENANT_OWNED } from './fences.ts';

/** A token with projects sees what belongs to the orgs that it sees. */
const limitTo = (table: string, condition: string): string => {
  const check = `case when (select current_projects()) is null then true else ${condition} end`;
  return `create policy project on ${table} as restrictive to ${APP_ROLE} using (${check}) with check (${check});`;
};
const limitToOrgs = (table: string): string =>
  limitTo(table, `org_id in (select o.id from crm_org o where o.tenant_id = ${table}.tenant_id)`);

/** The metadata of registered orgs: an index of components, their files, and what changed between syncs. */
export class OrgExplorer extends Migration {
  override up(): void {
    this.addSql(`
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
      create unique index on org_sync (tenant_id, org_id) where status = 'requested';
      create unique index on org_sync (tenant_id, org_id) where status = 'running';
      create index on org_sync (tenant_id, org_id, created_at desc, id desc);
      create index on org_sync (updated_at) where status in ('requested', 'running');
      ${fenceTenant('org_sync')}
      ${limitToOrgs('org_sync')}
      ${openToSystem('org_sync', ['select', 'delete'])}`);
    this.addSql(`
      create table org_component_type (
        tenant_id uuid not null references tenant (id),
        org_id uuid not null,
        platform_org_id text not null,
        metadata_type text collate "C" not null,
        description jsonb,
        component_count int not null default 0,
        synced_at timestamptz(3),
        error text,
        primary key (tenant_id, org_id, platform_org_id, metadata_type),
        foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade);
      ${fenceTenant('org_component_type')}
      ${limitToOrgs('org_component_type')}`);
    this.addComponents();
    this.addSql(`
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
      create index on org_component_change (tenant_id, org_id, platform_org_id, detected_at desc, id desc);
      create index on org_component_change (detected_at);
      ${fenceTenant('org_component_change')}
      ${limitToOrgs('org_component_change')}
      ${openToSystem('org_component_change', ['select', 'delete'])}`);
  }

  private addComponents(): void {
    this.addSql(`
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
        foreign key (tenant_id, org_id) references crm_org (tenant_id, id) on delete cascade,
        unique (tenant_id, org_id, platform_org_id, metadata_type, member_name),
        unique (tenant_id, id));
      create index on org_component (tenant_id, org_id, platform_org_id, (lower(member_name) collate "C"));
      create index on org_component (tenant_id, org_id, metadata_type, member_name) where is_due;
      create index on org_component (tenant_id, org_id, retrieve_id) where retrieve_id is not null;
      ${fenceTenant('org_component')}
      ${limitToOrgs('org_component')}`);
    this.addSql(`
      create table org_content (
        tenant_id uuid not null references tenant (id),
        sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
        size_bytes int not null,
        is_text boolean not null,
        stored_at timestamptz(3),
        used_at timestamptz(3) not null default now(),
        removing_since timestamptz(3),
        primary key (tenant_id, sha256));
      create index on org_content (used_at);
      ${fenceTenant('org_content')}
      ${openToSystem('org_content', ['select', 'update', 'delete'])}
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
      create index on org_component_file (tenant_id, sha256);
      ${fenceTenant('org_component_file')}
      ${limitTo(
        'org_component_file',
        'exists (select from org_component c where c.tenant_id = org_component_file.tenant_id and c.id = component_id)',
      )}
      ${openToSystem('org_component_file', ['select'])}`);
  }
}
