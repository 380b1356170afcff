import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../kernel/data/columns.ts';
import type { Store } from '../kernel/settings/kept-version-rules.ts';

export const DocumentSchema = defineEntity({
  name: 'Document',
  tableName: 'document',
  properties: {
    tenantId: p.uuid().primary(),
    store: p.text().$type<Store>().primary(),
    collection: p.text().primary(),
    key: p.text().primary(),
    version: p.integer(),
    value: jsonColumn<unknown>(),
    /** Bytes of the value as compact JSON in UTF-8. */
    sizeBytes: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    updatedBy: p.text(),
  },
});
export class Document extends DocumentSchema.class {}
DocumentSchema.setClass(Document);

export const DocumentCollectionSchema = defineEntity({
  name: 'DocumentCollection',
  tableName: 'document_collection',
  properties: {
    tenantId: p.uuid().primary(),
    name: p.text().primary(),
    id: p.uuid(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const DocumentVersionSchema = defineEntity({
  name: 'DocumentVersion',
  tableName: 'document_version',
  properties: {
    tenantId: p.uuid().primary(),
    store: p.text().$type<Store>().primary(),
    collection: p.text().primary(),
    key: p.text().primary(),
    version: p.integer().primary(),
    value: jsonColumn<unknown>(),
    sizeBytes: p.integer(),
    updatedAt: p.datetime(3),
    updatedBy: p.text(),
  },
});
