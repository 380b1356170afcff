import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../data/columns.ts';
import { tenantOwned } from '../data/tenant-owned.ts';
import type { IntegrationKind } from './integration-rules.ts';

export const IntegrationSchema = defineEntity({
  name: 'Integration',
  tableName: 'integration',
  properties: {
    ...tenantOwned,
    projectId: p.uuid().nullable(),
    kind: p.text().$type<IntegrationKind>(),
    name: p.text(),
    baseUrl: p.text().nullable(),
    settings: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    credentials: p.text(),
    credentialsUpdatedAt: p.datetime(3).defaultRaw('now()'),
    isActive: p.boolean().default(true),
    version: p.integer().default(1),
    createdBy: p.text(),
  },
});
export class Integration extends IntegrationSchema.class {}
IntegrationSchema.setClass(Integration);
