import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { ComponentChange, FailedType, FileState, SyncStatus } from './explorer-rules.ts';
import type { TypeDescription } from './listing-rules.ts';

/** One comparison of what is kept of an org with the org: a refresh by the service, or one that a worker outside reports. */
export const OrgSyncSchema = defineEntity({
  name: 'OrgSync',
  tableName: 'org_sync',
  properties: {
    ...tenantOwned,
    orgId: p.uuid(),
    /** The platform's id of the org that was read: a refreshed sandbox has a new one. */
    platformOrgId: p.text().nullable(),
    source: p.text().$type<'refresh' | 'ingest'>(),
    /** At most one of an org is requested, and at most one is running. */
    status: p.text().$type<SyncStatus>(),
    /** Null: all. */
    metadataTypes: jsonColumn<string[]>().nullable(),
    /** E-mail of the actor. */
    requestedBy: p.text(),
    startedAt: p.datetime(3).nullable(),
    finishedAt: p.datetime(3).nullable(),
    /** What it does at this time, for people. */
    step: p.text().nullable(),
    /** Why it failed, or waits. */
    message: p.text().nullable(),
    typesCount: p.integer().default(0),
    componentsCount: p.integer().default(0),
    filesRetrieved: p.integer().default(0),
    failedTypes: jsonColumn<FailedType[]>().defaultRaw("'[]'::jsonb"),
    durationMs: p.integer().nullable(),
  },
});

/** A type of metadata of an org, as it was last listed. */
export const OrgComponentTypeSchema = defineEntity({
  name: 'OrgComponentType',
  tableName: 'org_component_type',
  properties: {
    tenantId: p.uuid().primary(),
    orgId: p.uuid().primary(),
    platformOrgId: p.text().primary(),
    metadataType: p.text().primary(),
    /** Null for types that only workers outside report. */
    description: jsonColumn<TypeDescription>().nullable(),
    componentCount: p.integer().default(0),
    /** When its components were last listed whole. */
    syncedAt: p.datetime(3).nullable(),
    /** When the service itself listed them last. */
    listedAt: p.datetime(3).nullable(),
    /** Why the last attempt failed. */
    error: p.text().nullable(),
  },
});

/** A component of an org. Rows of a former platform id are those of a sandbox before its refresh. */
export const OrgComponentSchema = defineEntity({
  name: 'OrgComponent',
  tableName: 'org_component',
  properties: {
    id: p.uuid().primary(),
    tenantId: p.uuid(),
    orgId: p.uuid(),
    platformOrgId: p.text(),
    metadataType: p.text(),
    memberName: p.text(),
    /** File as the platform lists it: `classes/A.cls`, of a bundle its folder, of a child the file of its parent. */
    fileName: p.text().nullable(),
    /** Type of the parent of a child, which has no files of its own; null for a component with files. */
    parentType: p.text().nullable(),
    lastModifiedAt: p.datetime(3).nullable(),
    lastModifiedBy: p.text().nullable(),
    manageableState: p.text().nullable(),
    namespacePrefix: p.text().nullable(),
    /** Its source is retrieved only when somebody asks for it. */
    isIndexOnly: p.boolean().default(false),
    /** Its source has to be retrieved. */
    isDue: p.boolean().default(false),
    /** The retrieve that is to bring its source. */
    retrieveId: p.text().nullable(),
    /** Digest of the names and contents of its files; null without any. */
    contentHash: p.text().nullable(),
    /** Why its source could not be retrieved. */
    contentError: p.text().nullable(),
    fetchedAt: p.datetime(3).nullable(),
    seenAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** Content of files in the object store, once per tenant. The row is written before the object, and removed after it. */
export const OrgContentSchema = defineEntity({
  name: 'OrgContent',
  tableName: 'org_content',
  properties: {
    tenantId: p.uuid().primary(),
    sha256: p.text().primary(),
    sizeBytes: p.integer(),
    /** It is valid UTF-8. */
    isText: p.boolean(),
    /** Null until the object is there. */
    storedAt: p.datetime(3).nullable(),
    usedAt: p.datetime(3).defaultRaw('now()'),
    /** The sweep is removing the object. */
    removingSince: p.datetime(3).nullable(),
  },
});

export const OrgComponentFileSchema = defineEntity({
  name: 'OrgComponentFile',
  tableName: 'org_component_file',
  properties: {
    tenantId: p.uuid().primary(),
    componentId: p.uuid().primary(),
    /** `classes/A.cls-meta.xml`. */
    fileName: p.text().primary(),
    fullName: p.text(),
    type: p.text(),
    state: p.text().$type<FileState>(),
    /** SHA-256 of the content; null for a file that could not be retrieved. */
    sha256: p.text().nullable(),
    sizeBytes: p.integer().nullable(),
    fetchedAt: p.datetime(3),
  },
});

/** A difference that a sync found; the first sync of a type finds none. */
export const OrgComponentChangeSchema = defineEntity({
  name: 'OrgComponentChange',
  tableName: 'org_component_change',
  properties: {
    id: p.uuid().primary(),
    tenantId: p.uuid(),
    orgId: p.uuid(),
    platformOrgId: p.text(),
    syncId: p.uuid().nullable(),
    metadataType: p.text(),
    memberName: p.text(),
    change: p.text().$type<ComponentChange>(),
    /** When and by whom it was modified, as the org says; for what was deleted, when and by whom it was changed last. */
    modifiedAt: p.datetime(3).nullable(),
    modifiedBy: p.text().nullable(),
    beforeHash: p.text().nullable(),
    afterHash: p.text().nullable(),
    detectedAt: p.datetime(3).defaultRaw('now()'),
  },
});
