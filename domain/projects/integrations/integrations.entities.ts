import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { IntegrationKind, IntegrationOptions } from './integration-rules.ts';

export const IntegrationSchema = defineEntity({
  name: 'Integration',
  tableName: 'integration',
  properties: {
    ...tenantOwned,
    /** Null: for the whole tenant. */
    projectId: p.uuid().nullable(),
    kind: p.text().$type<IntegrationKind>(),
    name: p.text(),
    baseUrl: p.text().nullable(),
    /** What the system needs to know beside credentials; readable by owners, so nothing secret. */
    settings: jsonColumn<IntegrationOptions>().defaultRaw("'{}'::jsonb"),
    /** Encrypted. */
    credentials: p.text(),
    credentialsUpdatedAt: p.datetime(3).defaultRaw('now()'),
    isActive: p.boolean().default(true),
    version: p.integer().default(1),
    createdBy: p.text(),
  },
});
export class Integration extends IntegrationSchema.class {}
IntegrationSchema.setClass(Integration);
