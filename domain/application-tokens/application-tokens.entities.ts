import { defineEntity, p } from '@mikro-orm/core';
import { tenantOwned } from '../data/tenant-owned.ts';

export const ApplicationTokenSchema = defineEntity({
  name: 'ApplicationToken',
  tableName: 'application_token',
  properties: {
    ...tenantOwned,
    name: p.text(),
    tokenHash: p.text(),
    projectIds: p.array().columnType('uuid[]').nullable(),
    expiresAt: p.datetime(3),
    lastUsedAt: p.datetime(3).nullable(),
    createdBy: p.text(),
    revokedAt: p.datetime(3).nullable(),
    rotatedAt: p.datetime(3).nullable(),
    previousHash: p.text().nullable(),
    previousUntil: p.datetime(3).nullable(),
    expiryAnnouncedAt: p.datetime(3).nullable(),
  },
});
export class ApplicationToken extends ApplicationTokenSchema.class {}
ApplicationTokenSchema.setClass(ApplicationToken);
