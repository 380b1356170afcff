import { defineEntity, p } from '@mikro-orm/core';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';

export const ApplicationTokenSchema = defineEntity({
  name: 'ApplicationToken',
  tableName: 'application_token',
  properties: {
    ...tenantOwned,
    name: p.text(),
    /** SHA-256 of the secret. */
    tokenHash: p.text(),
    /** The only projects that it sees; null: all. */
    projectIds: p.array().columnType('uuid[]').nullable(),
    expiresAt: p.datetime(3),
    lastUsedAt: p.datetime(3).nullable(),
    createdBy: p.text(),
    /** Ids of the people who were shown its secret: what it does counts as theirs. */
    peopleIds: p.array().default([]),
    revokedAt: p.datetime(3).nullable(),
    rotatedAt: p.datetime(3).nullable(),
    /** SHA-256 of the secret before the last rotation, which is accepted until `previousUntil`; null: there is none. */
    previousHash: p.text().nullable(),
    previousUntil: p.datetime(3).nullable(),
    expiryAnnouncedAt: p.datetime(3).nullable(),
  },
});
export class ApplicationToken extends ApplicationTokenSchema.class {}
ApplicationTokenSchema.setClass(ApplicationToken);
