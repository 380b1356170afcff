import { defineEntity, p } from '@mikro-orm/core';
import { tenantOwned } from '../data/tenant-owned.ts';

export const InvitationSchema = defineEntity({
  name: 'Invitation',
  tableName: 'invitation',
  properties: {
    ...tenantOwned,
    userId: p.uuid(),
    tokenHash: p.text().nullable(),
    expiresAt: p.datetime(3),
    usedAt: p.datetime(3).nullable(),
    invitedBy: p.text(),
  },
});
export class Invitation extends InvitationSchema.class {}
InvitationSchema.setClass(Invitation);
