import { defineEntity, p } from '@mikro-orm/core';

export const TenantSchema = defineEntity({
  name: 'Tenant',
  tableName: 'tenant',
  properties: {
    id: p.uuid().primary(),
    slug: p.text(),
    /** Names the tenant in the public addresses of its chat app. */
    chatKey: p.text().defaultRaw('(gen_random_uuid())::text'),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class Tenant extends TenantSchema.class {}
TenantSchema.setClass(Tenant);
