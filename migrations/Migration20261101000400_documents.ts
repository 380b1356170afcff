import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, limitProjects } from './fences.ts';

const DOCUMENT_COLLECTION = `
  create table document_collection (
    tenant_id uuid not null references tenant (id),
    id uuid not null,
    name text collate "C" not null,
    created_at timestamptz(3) not null default now(),
    primary key (tenant_id, name),
    unique (tenant_id, id));
  ${fenceTenant('document_collection')}
  ${limitProjects('document_collection', 'name ~ any ((select current_collections())::text[])')}`;

/**
 * The tenant and the store stand in the indexed value, so that a search never meets entries of others. Queries by
 * content read all changes that wait to be put into the index: only few may.
 */
const DOCUMENT = `
  create table document (
    tenant_id uuid not null,
    store text collate "C" not null check (store in ('doc', 'changelog', 'packages', 'builds')),
    collection text collate "C" not null,
    key text collate "C" not null,
    version int not null,
    value jsonb not null,
    size_bytes int not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    updated_by text not null,
    primary key (tenant_id, store, collection, key),
    foreign key (tenant_id, collection) references document_collection (tenant_id, name))
    with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
  create index document_content on document using gin
    (jsonb_set('{}', array[tenant_id::text || store], value) jsonb_path_ops) with (gin_pending_list_limit = 64);
  ${fenceTenant('document')}
  ${limitProjects('document', 'collection ~ any ((select current_collections())::text[])')}`;

const DOCUMENT_VERSION = `
  create table document_version (
    tenant_id uuid not null,
    store text collate "C" not null,
    collection text collate "C" not null,
    key text collate "C" not null,
    version int not null,
    value jsonb not null,
    size_bytes int not null,
    updated_at timestamptz(3) not null,
    updated_by text not null,
    primary key (tenant_id, store, collection, key, version),
    foreign key (tenant_id, store, collection, key) references document (tenant_id, store, collection, key)
      on delete cascade);
  ${fenceTenant('document_version')}
  ${limitProjects('document_version', 'collection ~ any ((select current_collections())::text[])')}`;

/** Collections of documents, and earlier versions of these. */
export class Documents extends Migration {
  override up(): void {
    for (const sql of [DOCUMENT_COLLECTION, DOCUMENT, DOCUMENT_VERSION]) this.addSql(sql);
  }
}
